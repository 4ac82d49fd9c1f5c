/** The administration API of API keys. */
import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import { formatInstant, formatInstantOrNull } from "../../../core/time.ts";
import type { ApiKeyRecord } from "../../ports/ledger.ts";
import type { AdminOptions } from "./options.ts";
import { assertName, assertSingleAccount, jsonBodyParser, Name } from "./validation.ts";

/** Creates the routes of API keys. */
export function createAdminKeyRoutes({ ledger, keys }: AdminOptions) {
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
      async ({ body: { account, label }, set }) => {
        assertName("label", label);
        const created = await keys.create(account, label ?? null);
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
      // TypeBox's schema, because Elysia's accepts numbers in strings.
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
