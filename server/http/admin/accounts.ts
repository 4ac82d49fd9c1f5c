/** The administrator's interface to accounts and their journals. */
import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import { MAX_INTEGER } from "../../../core/limits.ts";
import { parseIntegerParameter } from "../../../core/parameters.ts";
import { formatInstant } from "../../../core/time.ts";
import type { Account, AccountLedger, LedgerVerification } from "../../ports/ledger.ts";
import { assertSingleAccount, assertName, Name } from "./validation.ts";
import { jsonBodyParser } from "./body-parser.ts";
import { getPathAndQuery, parseQuery } from "../request-url.ts";

/** What accounts are kept with; `now` is in milliseconds since 1970 UTC. */
export interface AdminAccountsOptions {
  now(): number;
  readonly ledger: AccountLedger;
  verifyLedger(): Promise<LedgerVerification>;
}

// Not the framework's own, which takes a text for a number.
const Amount = Type.Integer({ minimum: 1, maximum: MAX_INTEGER });

/** After which entry a statement goes on. */
const AFTER_ENTRY_RANGE = { min: 0, max: MAX_INTEGER, default: 0 };

/** Entries of a statement that one answer holds. */
const STATEMENT_MAX_ENTRIES = 1000;

/** The routes of accounts. */
export function createAdminAccountRoutes({ now, ledger, verifyLedger }: AdminAccountsOptions) {
  return new Elysia({ name: "admin-accounts" })
    .use(jsonBodyParser)
    .get("/accounts", async () => (await ledger.accounts()).map(toAccountResource))
    .post(
      "/accounts",
      async ({ body, set }) => {
        assertName("name", body.name);
        await ledger.createAccount(body.name, now());
        if (body.credits !== undefined) {
          const grant = { uid: Bun.randomUUIDv7(), account: body.name, amount: body.credits };
          await ledger.grant(grant, now());
        }
        set.status = 201;
        return toAccountResource(await ledger.account(body.name));
      },
      { body: t.Object({ name: Name, credits: t.Optional(Amount) }) },
    )
    .post(
      "/grants",
      async ({ body }) => {
        if (body.reference !== undefined) assertName("reference", body.reference);
        if (body.reason !== undefined) assertName("reason", body.reason);
        const { isNew, balance } = await ledger.grant({ uid: Bun.randomUUIDv7(), ...body }, now());
        return { account: body.account, is_new: isNew, balance };
      },
      {
        body: t.Object({
          account: Name,
          amount: Amount,
          reference: t.Optional(Name),
          reason: t.Optional(Name),
        }),
      },
    )
    .get(
      "/statement",
      async ({ query: { account }, request }) => {
        assertSingleAccount(request);
        const after = parseIntegerParameter(
          "after",
          parseQuery(getPathAndQuery(request))("after"),
          AFTER_ENTRY_RANGE,
        );
        // One more than is told says whether there are more.
        const rows = await ledger.statement(account, after, STATEMENT_MAX_ENTRIES + 1);
        const entries = rows.slice(0, STATEMENT_MAX_ENTRIES);
        return {
          entries: entries.map(({ at, ...entry }) =>
            Object.assign(entry, { at: formatInstant(at) }),
          ),
          has_more: rows.length > entries.length,
        };
      },
      { query: t.Object({ account: Name, after: t.Optional(t.String()) }) },
    )
    .get("/verification", () => verifyLedger());
}

function toAccountResource({ name, createdAt, granted, debited, refunded, balance }: Account) {
  return { name, balance, granted, debited, refunded, created_at: formatInstant(createdAt) };
}
