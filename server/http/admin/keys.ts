/** The administrator's interface to API keys. */
import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import { formatInstant, formatInstantOrNull } from "../../../core/time.ts";
import type { ApiKeyRecord } from "../../ports/ledger.ts";
import type { AdminAccountsOptions } from "./accounts.ts";
import { assertSingleAccount, assertName, Name } from "./validation.ts";
import { jsonBodyParser } from "./body-parser.ts";

/** What keys are kept with. */
export interface AdminKeysOptions extends Pick<AdminAccountsOptions, "ledger"> {
  readonly keys: {
    create(account: string, label: string | null): Promise<{ id: number; key: string }>;
    list(account: string): Promise<ApiKeyRecord[]>;
    revoke(id: number): Promise<{ id: number; revokedAt: number }>;
  };
}

/** The routes of API keys. */
export function createAdminKeyRoutes({ ledger, keys }: AdminKeysOptions) {
  return new Elysia({ name: "admin-keys" })
    .use(jsonBodyParser)
    .get(
      "/keys",
      async ({ query, request }) => {
        assertSingleAccount(request);
        await ledger.account(query.account);
        return (await keys.list(query.account)).map(toKeyResource);
      },
      { query: t.Object({ account: Name }) },
    )
    .post(
      "/keys",
      async ({ body, set }) => {
        if (body.label !== undefined) assertName("label", body.label);
        const created = await keys.create(body.account, body.label ?? null);
        set.status = 201;
        return created;
      },
      { body: t.Object({ account: Name, label: t.Optional(Name) }) },
    )
    .delete(
      "/keys",
      async ({ body }) => {
        const { id, revokedAt } = await keys.revoke(body.id);
        return { id, revoked_at: formatInstant(revokedAt) };
      },
      { body: t.Object({ id: Type.Integer({ minimum: 1 }) }) },
    );
}

function toKeyResource({ id, beginsWith, label, createdAt, revokedAt }: ApiKeyRecord) {
  return {
    id,
    begins_with: beginsWith,
    label,
    created_at: formatInstant(createdAt),
    revoked_at: formatInstantOrNull(revokedAt),
  };
}
