/** The administration API of accounts, their credits and their journals. */
import { Type } from "@sinclair/typebox";
import { Elysia, t } from "elysia";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { readSingleValue, type GetQueryValues } from "../../../core/parameters.ts";
import {
  FIRST_INSTANT,
  formatInstant,
  HOUR_MS,
  LAST_INSTANT,
  parseInstantParameter,
} from "../../../core/time.ts";
import type { CreditAccount } from "../../../core/stores.ts";
import type { StatementLine } from "../../ports/ledger.ts";
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

/** About how many lines a response to `/statement` has. */
const STATEMENT_PAGE_LINES = 1000;

const FIRST_HOUR = FIRST_INSTANT / HOUR_MS;
const LAST_HOUR = Math.ceil(LAST_INSTANT / HOUR_MS);

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
          const getValues = getQuery(request);
          const since = parseHour("since", getValues) ?? FIRST_HOUR;
          const until = parseHour("until", getValues) ?? LAST_HOUR;
          const { lines, nextHour } = await ledger.statement(
            account,
            { since, until },
            STATEMENT_PAGE_LINES,
          );
          return {
            lines: lines.map(toLineResource),
            next: nextHour === undefined ? null : formatInstant(nextHour * HOUR_MS),
          };
        },
        {
          query: t.Object({
            account: Name,
            since: t.Optional(t.String()),
            until: t.Optional(t.String()),
          }),
        },
      )
      .get("/verification", () => verifyLedger())
  );
}

/**
 * Parses a parameter that begins or ends a statement: a day or the start of an hour.
 *
 * @returns Hours since 1970 UTC.
 * @throws {DomainError} `Invalid Request`.
 */
function parseHour(name: string, getValues: GetQueryValues): number | undefined {
  const text = readSingleValue(name, getValues(name));
  const instant = text === undefined ? undefined : parseInstantParameter(name, text);
  if (instant === undefined || instant % HOUR_MS === 0) return instant && instant / HOUR_MS;
  throw createInvalidRequestError(
    `${name} must be a day or the start of an hour in UTC, because usage is counted by hour, ` +
      `got ${quoteValue(text)}`,
  );
}

function toLineResource(line: StatementLine) {
  const { kind, key, label, endpoint, requests, amount, balance, reference, reason } = line;
  const at = formatInstant(line.at);
  const key_begins_with = line.beginsWith;
  return {
    at,
    kind,
    key,
    key_begins_with,
    label,
    endpoint,
    requests,
    amount,
    balance,
    reference,
    reason,
  };
}

function toAccountResource({
  name,
  createdAt,
  granted,
  debited,
  refunded,
  balance,
}: CreditAccount) {
  return { name, balance, granted, debited, refunded, created_at: formatInstant(createdAt) };
}
