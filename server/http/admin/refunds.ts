/** Refunds that wait, in the administrator's interface. */
import { Elysia } from "elysia";
import type { RecoveredFile } from "../../ports/ledger.ts";

/** Gives back what earlier processes could not. */
export interface AdminRefundsOptions {
  recoverRefunds(): Promise<readonly RecoveredFile[]>;
}

/** The routes of refunds. */
export function createAdminRefundRoutes({ recoverRefunds }: AdminRefundsOptions) {
  return new Elysia({ name: "admin-refunds" }).post("/refunds", async () => ({
    files: await recoverRefunds(),
  }));
}
