/** The endpoints of the usage and the statements of accounts. */
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { readSingleValue, type QueryParameters } from "../../../core/parameters.ts";
import {
  FIRST_INSTANT,
  formatInstant,
  HOUR_MS,
  LAST_INSTANT,
  parseInstantParameter,
} from "../../../core/time.ts";
import { AccountDetails } from "../../../core/resources/account.ts";
import type { StatementLine } from "../../store/accounts/statement.ts";
import { readAccountDetails, USAGE_QUERY } from "../endpoints/account.ts";
import { createInstantParameter } from "../endpoints/parameters.ts";
import { defineAdmin } from "./endpoint.ts";
import { AccountParameter, parseAccount } from "./validation.ts";
import { RESOURCES } from "./resources.ts";

const STATEMENT_PAGE_LINES = 1000;

const FIRST_HOUR = FIRST_INSTANT / HOUR_MS;
const LAST_HOUR = Math.ceil(LAST_INSTANT / HOUR_MS);

export const ADMIN_USAGE_ENDPOINTS = [
  defineAdmin({
    id: "adminGetUsage",
    operation: "GET /admin/usage",
    summary: "The usage of an account",
    description: "What a key of the account reads at /api/account.",
    errors: {
      "Invalid Request": 'from must be a day that exists (2026-11-20), got "2026-11-31"',
      "Not Found": "There is no account nobody",
    },
    query: { account: AccountParameter, ...USAGE_QUERY },
    result: { schema: AccountDetails, description: "The account and its usage" },
    handle: async ({ ledger, now }, { query }) => {
      const account = await ledger.account(parseAccount(query));
      return readAccountDetails(ledger, account.id, async () => account, query, now());
    },
  }),
  defineAdmin({
    id: "adminGetStatement",
    operation: "GET /admin/statement",
    summary: "The statement of an account",
    description:
      "Grants, refunds and debits, with the balance after each: about 1,000 lines of whole hours.",
    errors: {
      "Invalid Request":
        "since must be a day or the start of an hour in UTC, because usage is counted by hour, " +
        'got "2026-11-20T00:30:00Z"',
      "Not Found": "There is no account nobody",
    },
    query: {
      account: AccountParameter,
      since: createInstantParameter("The first day or hour, in UTC."),
      until: createInstantParameter("The day or hour after the last one, in UTC."),
    },
    result: { schema: RESOURCES.Statement, description: "A page of the statement" },
    handle: async ({ ledger }, { query }) => {
      const account = parseAccount(query);
      const since = parseHour("since", query) ?? FIRST_HOUR;
      const until = parseHour("until", query) ?? LAST_HOUR;
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
  }),
] as const;

/** Parses a day or the start of an hour, to hours since 1970 UTC. */
function parseHour(name: string, query: QueryParameters): number | undefined {
  const text = readSingleValue(name, query);
  const instant = text === undefined ? undefined : parseInstantParameter(name, text);
  if (instant === undefined || instant % HOUR_MS === 0) return instant && instant / HOUR_MS;
  throw createInvalidRequestError(
    `${name} must be a day or the start of an hour in UTC, because usage is counted by hour, ` +
      `got ${quoteValue(text)}`,
  );
}

function toLineResource({ at, kind, key, beginsWith, label, ...line }: StatementLine) {
  const { endpoint, requests, amount, balance, reference, reason } = line;
  const entry = { at: formatInstant(at), kind, key, key_begins_with: beginsWith, label };
  return { ...entry, endpoint, requests, amount, balance, reference, reason };
}
