/** The resources of the administration API: the types of its schemas. */
import type { Static } from "@sinclair/typebox";
import type * as schemas from "../../http/admin/resources.ts";

export type AdminAccount = Static<typeof schemas.AdminAccount>;
export type AdminKey = Static<typeof schemas.AdminKeyList>[number];
export type CreatedKey = Static<typeof schemas.CreatedKey>;
export type AdminStatementLine = Static<typeof schemas.Statement>["lines"][number];
export type AdminNotice = Static<typeof schemas.AdminNotice>;
export type AdminSource = Static<typeof schemas.CollectedSources>[number];
export type AdminBackup = Static<typeof schemas.BackupList>[number];
export type AdminStatus = Static<typeof schemas.ServiceStatus>;
export type AdminAuditEntry = Static<typeof schemas.AuditPage>["entries"][number];

/** Whether the balance of an account is below its own threshold. */
export function isLow({ balance, low_balance }: AdminAccount): boolean {
  return low_balance !== null && balance < low_balance;
}
