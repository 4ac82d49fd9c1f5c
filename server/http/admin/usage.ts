/** The administration API of what accounts used: their usage and their statements. */
import { Elysia, t } from "elysia";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { readSingleValue, type GetQueryValues } from "../../../core/parameters.ts";
import {
  FIRST_INSTANT,
  formatInstant,
  HOUR_MS,
  LAST_INSTANT,
  parseInstantParameter,
} from "../../../core/time.ts";
import type { AccountDetails } from "../../../core/resources/generated/types.ts";
import type { StatementLine } from "../../store/accounts/statement.ts";
import { readUsage, toAccountDetails } from "../account.ts";
import { getQuery } from "../request-url.ts";
import type { AdminOptions } from "./options.ts";
import { assertSingleAccount } from "./validation.ts";

/** About how many lines a response to `/statement` has. */
const STATEMENT_PAGE_LINES = 1000;

const FIRST_HOUR = FIRST_INSTANT / HOUR_MS;
const LAST_HOUR = Math.ceil(LAST_INSTANT / HOUR_MS);

/** Creates the routes of usage and statements. */
export function createAdminUsageRoutes({ ledger, now }: Pick<AdminOptions, "ledger" | "now">) {
  return new Elysia({ name: "admin-usage" })
    .get(
      "/usage",
      async ({ query, request }): Promise<AccountDetails> => {
        assertSingleAccount(request);
        const account = await ledger.account(query.account);
        const usage = await readUsage(ledger, account.id, getQuery(request), now());
        return toAccountDetails(account, usage);
      },
      { query: t.Object({ account: t.String() }) },
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
          account: t.String(),
          since: t.Optional(t.String()),
          until: t.Optional(t.String()),
        }),
      },
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
