/** Parses the query of `/api/account`, and creates its response: the usage of an account by day. */
import { assertWholeNumber, createInvalidRequestError, quoteValue } from "./errors.ts";
import { USAGE_DAYS_RANGE } from "./limits.ts";
import { readSingleValue, type QueryParameters } from "./parameters.ts";
import type { AccountDetails, UsageRow } from "./resources/generated/types.ts";
import { DAY_MS, FIRST_INSTANT, formatDay, parseInstant } from "./time.ts";

/** The dimensions that usage can be grouped by. */
export const USAGE_GROUPINGS = ["key", "endpoint", "day", "hour"] as const;

/** A grouping of usage. */
export interface UsageGrouping {
  readonly hasKey: boolean;
  readonly hasEndpoint: boolean;
  readonly period: "day" | "hour" | undefined;
}

/** A range of days, both ends included, counted from 1970 UTC. */
export interface DayRange {
  /** The first day. */
  readonly first: number;
  /** The last day. */
  readonly last: number;
}

/** The usage of an account on a day. */
export interface UsageDay extends Readonly<Pick<UsageRow, "requests" | "credits" | "refunded">> {
  /** The day, counted from 1970 UTC. */
  readonly day: number;
}

const FIRST_DAY = FIRST_INSTANT / DAY_MS;

/** Parses `by`: names of {@link USAGE_GROUPINGS}, each once, and not both `day` and `hour`. */
export function parseUsageGrouping(query: QueryParameters): UsageGrouping | undefined {
  const text = readSingleValue("by", query);
  if (text === undefined) return undefined;
  const names = text.split(",");
  const isKnown = names.every((name) => USAGE_GROUPINGS.some((grouping) => grouping === name));
  const isOnce = new Set(names).size === names.length;
  if (!isKnown || !isOnce || (names.includes("day") && names.includes("hour"))) {
    throw createInvalidRequestError(
      `by must be one or more of key, endpoint and either day or hour, separated by commas, ` +
        `got ${quoteValue(text)}`,
    );
  }
  return {
    hasKey: names.includes("key"),
    hasEndpoint: names.includes("endpoint"),
    period: names.includes("day") ? "day" : names.includes("hour") ? "hour" : undefined,
  };
}

/**
 * Parses the UTC days `from` and `to`, both included; by default, 29 days before `to`, and today.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, with the parameter and its value.
 *
 * @example
 * parseUsageDays(new URLSearchParams("from=1970-01-02"), 3 * 86_400_000);
 * // { first: 1, last: 3 }
 */
export function parseUsageDays(query: QueryParameters, now: number): DayRange {
  const last = parseDayParameter("to", query) ?? Math.floor(now / DAY_MS);
  const first = parseDayParameter("from", query) ?? last - USAGE_DAYS_RANGE.default + 1;
  if (first < FIRST_DAY) {
    const earliestTo = formatDay(FIRST_DAY + USAGE_DAYS_RANGE.default - 1);
    throw createInvalidRequestError(
      `to must be ${earliestTo} or later where from is left out, got ${formatDay(last)}`,
    );
  }
  const days = last - first + 1;
  if (days < USAGE_DAYS_RANGE.min || days > USAGE_DAYS_RANGE.max) {
    throw createInvalidRequestError(
      `from must be at or before to, and at most ${USAGE_DAYS_RANGE.max} days, both included, ` +
        `got ${formatDay(first)} to ${formatDay(last)}`,
    );
  }
  return { first, last };
}

function parseDayParameter(name: string, query: QueryParameters): number | undefined {
  const text = readSingleValue(name, query);
  if (text === undefined) return undefined;
  const instant = text.length === "YYYY-MM-DD".length ? parseInstant(text) : undefined;
  if (instant === undefined) {
    throw createInvalidRequestError(
      `${name} must be a day that exists (2026-11-20), got ${quoteValue(text)}`,
    );
  }
  return instant / DAY_MS;
}

/**
 * Creates the resource of an account, with its usage of each day.
 *
 * @param range The days, also those without use.
 * @param used The days with use, in any order; those outside the range are left out.
 * @throws {RangeError} Unless both days are whole numbers, and the last is not before the first.
 *
 * @example
 * const account = { name: "acme", balance: 7 };
 * createAccountDetails(account, { first: 0, last: 0 }, []).usage[0].day; // "1970-01-01"
 */
export function createAccountDetails(
  { name, balance }: { readonly name: string; readonly balance: number },
  { first, last }: DayRange,
  used: Iterable<UsageDay>,
): AccountDetails {
  assertWholeNumber("first", first, FIRST_DAY);
  assertWholeNumber("last", last, first);
  const days = Array.from({ length: last - first + 1 }, (_, index): UsageDay => {
    return { day: first + index, requests: 0, credits: 0, refunded: 0 };
  });
  for (const usage of used) {
    const index = usage.day - first;
    if (days[index] !== undefined) days[index] = usage;
  }
  const usage = days.map(({ day, requests, credits, refunded }) => {
    return { day: formatDay(day), requests, credits, refunded };
  });
  return { account: name, balance, usage };
}
