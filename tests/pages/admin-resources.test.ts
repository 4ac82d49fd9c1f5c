/** The types of the administrator's page agree with the schemas of the administration API. */
import type { Static } from "@sinclair/typebox";
import { expect, test } from "bun:test";
import type * as schemas from "../../server/http/openapi/admin/schemas.ts";
import type * as page from "../../server/pages/admin/resources.ts";

/** `true` if the API has all fields of a type of the page. To the schemas, a choice is any text. */
type HasFields<Schema, Type, Choice extends string = never> =
  Omit<Schema, Choice> extends Omit<Type, Choice> ? true : false;

type Line = Static<typeof schemas.Statement>["lines"][number];
type Entry = Static<typeof schemas.AuditPage>["entries"][number];

interface Agreements {
  readonly account: HasFields<Static<typeof schemas.AdminAccount>, page.AdminAccount>;
  readonly key: HasFields<Static<typeof schemas.AdminKeyList>[number], page.AdminKey>;
  readonly created: HasFields<Static<typeof schemas.CreatedKey>, page.CreatedKey>;
  readonly line: HasFields<Line, page.AdminStatementLine, "kind">;
  readonly notice: HasFields<Static<typeof schemas.AdminNotice>, page.AdminNotice, "state">;
  readonly source: HasFields<Static<typeof schemas.CollectedSources>[number], page.AdminSource>;
  readonly status: HasFields<Static<typeof schemas.ServiceStatus>, page.AdminStatus>;
  readonly entry: HasFields<Entry, page.AdminAuditEntry>;
  readonly backup: HasFields<Static<typeof schemas.BackupList>[number], page.AdminBackup>;
}

test("the page reads no field that the API does not have (the compiler checks it)", () => {
  const agreements: Agreements = {
    account: true,
    key: true,
    created: true,
    line: true,
    notice: true,
    source: true,
    status: true,
    entry: true,
    backup: true,
  };
  expect(Object.keys(agreements)).toHaveLength(9);
});
