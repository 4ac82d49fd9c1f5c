/** The account API: the balance of the caller's account and its usage by day. */
import { Elysia } from "elysia";
import { createInvalidRequestError, quote } from "../../core/errors.ts";
import type { IntegerRange } from "../../core/limits.ts";
import { readSingleValue, type GetQueryValues } from "../../core/parameters.ts";
import type { AccountDetails } from "../../core/schema/account.ts";
import { DAY_MS, FIRST_INSTANT, formatDay, parseInstant } from "../../core/time.ts";
import type { AccountReads, DayRange } from "../ports/ledger.ts";
import { getCaller } from "./admission.ts";
import { getQuery } from "./request-url.ts";

/** How many days of usage a response covers. */
export const USAGE_DAYS: IntegerRange = { min: 1, max: 366, default: 30 };

const FIRST_DAY = FIRST_INSTANT / DAY_MS;

/** Creates the route of the account. It is free of charge. */
export function createAccountRoutes(reads: AccountReads, now: () => number) {
  return new Elysia({ name: "account" }).get(
    "/api/account",
    async ({ request }): Promise<AccountDetails> => {
      const days = parseDayRange(getQuery(request), now());
      const { account: id } = getCaller(request);
      const [{ name, balance }, usageRows] = await Promise.all([
        reads.accountOf(id),
        reads.usage(id, days),
      ]);
      const rowsByDay = new Map(usageRows.map((row) => [row.day, row]));
      const usage = Array.from({ length: days.last - days.first + 1 }, (_, index) => {
        const day = days.first + index;
        const { requests = 0, credits = 0, refunded = 0 } = rowsByDay.get(day) ?? {};
        return { day: formatDay(day), requests, credits, refunded };
      });
      return { account: name, balance, usage };
    },
    { detail: { operationId: "getAccount" } },
  );
}

/**
 * Parses `from` and `to`, UTC days, both included. `to` defaults to today, `from` to the default
 * number of days before `to`.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, with the parameter and its value.
 *
 * @example
 * parseDayRange((name) => (name === "from" ? ["1970-01-02"] : []), 3 * 86_400_000);
 * // { first: 1, last: 3 }
 */
export function parseDayRange(getValues: GetQueryValues, now: number): DayRange {
  const last = parseDayParameter("to", getValues("to")) ?? Math.floor(now / DAY_MS);
  const first = parseDayParameter("from", getValues("from")) ?? last - USAGE_DAYS.default + 1;
  if (first < FIRST_DAY) {
    const earliestTo = formatDay(FIRST_DAY + USAGE_DAYS.default - 1);
    throw createInvalidRequestError(
      `to must be ${earliestTo} or later where from is left out, got ${formatDay(last)}`,
    );
  }
  const days = last - first + 1;
  if (days < USAGE_DAYS.min || days > USAGE_DAYS.max) {
    throw createInvalidRequestError(
      `from must be at or before to, and at most ${USAGE_DAYS.max} days, both included, ` +
        `got ${formatDay(first)} to ${formatDay(last)}`,
    );
  }
  return { first, last };
}

function parseDayParameter(name: string, values: readonly string[]): number | undefined {
  const text = readSingleValue(name, values);
  if (text === undefined) return undefined;
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseInstant(text) : undefined;
  if (instant === undefined) {
    throw createInvalidRequestError(
      `${name} must be a day that exists (2026-11-20), got ${quote(text)}`,
    );
  }
  return instant / DAY_MS;
}
