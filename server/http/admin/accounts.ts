/** The administration API of accounts, their credits and their journals. */
import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { parseIntegerParameter } from "../../../core/parameters.ts";
import { formatInstant } from "../../../core/time.ts";
import type { Account } from "../../ports/ledger.ts";
import type { AdminOptions } from "./options.ts";
import { assertName, assertSingleAccount, jsonBodyParser, Name } from "./validation.ts";
import { getQuery } from "../request-url.ts";

// TypeBox's schema, because Elysia's accepts numbers in strings.
const Amount = Type.Integer({ minimum: 1, maximum: INTEGER_MAX });

const NewAccount = t.Object({ name: Name, credits: t.Optional(Amount) });

const NewGrant = t.Object({
  account: Name,
  amount: Amount,
  reference: t.Optional(Name),
  reason: t.Optional(Name),
});

/** The range of `after`, the entry after which a statement begins. */
const AFTER_ENTRY_RANGE = { min: 0, max: INTEGER_MAX, default: 0 };

/** How many entries a response to `/statement` has at most. */
const STATEMENT_MAX_ENTRIES = 1000;

/** Creates the routes of accounts. */
export function createAdminAccountRoutes({
  now,
  ledger,
  verifyLedger,
  recoverRefunds,
}: AdminOptions) {
  return (
    new Elysia({ name: "admin-accounts" })
      // Before the parser, which rejects a request without a body.
      .post("/refunds", async () => ({ files: await recoverRefunds() }))
      .use(jsonBodyParser)
      .get("/accounts", async () => (await ledger.accounts()).map(toAccountResource))
      .post(
        "/accounts",
        async ({ body: { name, credits }, set }) => {
          assertName("name", name);
          await ledger.createAccount(name, now());
          if (credits !== undefined)
            await ledger.grant({ uid: Bun.randomUUIDv7(), account: name, amount: credits }, now());
          set.status = 201;
          return toAccountResource(await ledger.account(name));
        },
        { body: NewAccount },
      )
      .post(
        "/grants",
        async ({ body }) => {
          assertName("reference", body.reference);
          assertName("reason", body.reason);
          const { isNew, balance } = await ledger.grant(
            { uid: Bun.randomUUIDv7(), ...body },
            now(),
          );
          return { account: body.account, is_new: isNew, balance };
        },
        { body: NewGrant },
      )
      .get(
        "/statement",
        async ({ query: { account }, request }) => {
          assertSingleAccount(request);
          const after = parseIntegerParameter(
            "after",
            getQuery(request)("after"),
            AFTER_ENTRY_RANGE,
          );
          // One entry more than the response has shows whether there are more.
          const rows = await ledger.statement(account, after, STATEMENT_MAX_ENTRIES + 1);
          const entries = rows
            .slice(0, STATEMENT_MAX_ENTRIES)
            .map(({ at, ...entry }) => Object.assign(entry, { at: formatInstant(at) }));
          return { entries, has_more: rows.length > entries.length };
        },
        { query: t.Object({ account: Name, after: t.Optional(t.String()) }) },
      )
      .get("/verification", () => verifyLedger())
  );
}

function toAccountResource({ name, createdAt, granted, debited, refunded, balance }: Account) {
  return { name, balance, granted, debited, refunded, created_at: formatInstant(createdAt) };
}
