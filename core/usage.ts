/** Parses the query of `/api/account`, and creates its response: the usage of an account by day. */
import { findLocalBucket } from "./buckets.ts";
import { assertWholeNumber, createInvalidRequestError, quoteValue } from "./errors.ts";
import { USAGE_DAYS_RANGE } from "./limits.ts";
import { readSingleValue, type QueryParameters } from "./parameters.ts";
import type { AccountDetails, UsageRow } from "./resources/generated/types.ts";
import { DAY_MS, FIRST_INSTANT, formatDay, HOUR_MS, parseInstant } from "./time.ts";
import { getTimeZone, parseZoneParameter } from "./zones.ts";

/** The dimensions that usage can be grouped by. */
export const USAGE_GROUPINGS = ["key", "endpoint", "day", "hour"] as const;

/** A grouping of usage. */
export interface UsageGrouping {
  readonly hasKey: boolean;
  readonly hasEndpoint: boolean;
  readonly period: "day" | "hour" | undefined;
}

/** A range of days, both ends included, counted from 1970-01-01. */
export interface DayRange {
  /** The first day. */
  readonly first: number;
  /** The last day. */
  readonly last: number;
  /** The time zone of the days, by its IANA name; UTC without it. */
  readonly zone?: string;
}

/** The usage of an account on a day. */
export interface UsageDay extends Readonly<Pick<UsageRow, "requests" | "credits" | "refunded">> {
  /** The day, counted from 1970-01-01. */
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
 * Parses the days `from` and `to` in `zone` or in UTC, both included; by default, 29 days before
 * `to`, and today. Usage is stored by the hour of UTC, so each day must begin with one.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, with the parameter and its value.
 *
 * @example
 * parseUsageDays(new URLSearchParams("from=1970-01-02"), 3 * 86_400_000);
 * // { first: 1, last: 3 }
 */
export function parseUsageDays(query: QueryParameters, now: number): DayRange {
  const zone = parseZoneParameter(query);
  const last = parseDayParameter("to", query, zone) ?? findDay(now, zone);
  const first = parseDayParameter("from", query, zone) ?? last - USAGE_DAYS_RANGE.default + 1;
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
  if (zone === undefined) return { first, last };
  const range = { first, last, zone };
  if (!listDayHours(range).every(Number.isInteger)) {
    throw createInvalidRequestError(
      "zone must be one whose days begin with an hour of UTC, because usage is stored by these hours, " +
        `got ${quoteValue(zone)} from ${formatDay(first)} to ${formatDay(last)}`,
    );
  }
  return range;
}

function parseDayParameter(
  name: string,
  query: QueryParameters,
  zone: string | undefined,
): number | undefined {
  const text = readSingleValue(name, query);
  if (text === undefined) return undefined;
  const instant = text.length === "YYYY-MM-DD".length ? parseInstant(text) : undefined;
  const day = instant === undefined ? undefined : instant / DAY_MS;
  if (day === undefined || findDay(findDayStart(day, zone), zone) !== day) {
    const where = zone === undefined ? "" : ` in ${zone}`;
    throw createInvalidRequestError(
      `${name} must be a day that exists${where} (2026-11-20), got ${quoteValue(text)}`,
    );
  }
  return day;
}

const findDay = (at: number, zone: string | undefined) =>
  Math.floor((zone === undefined ? at : findLocalBucket(at, "day", zone).local) / DAY_MS);

const findDayStart = (day: number, zone: string | undefined) =>
  zone === undefined ? day * DAY_MS : getTimeZone(zone).findFirstInstant(day * DAY_MS);

/**
 * Lists the hours with which the days of a range begin, and then the hour after the last day. A day
 * that clocks skip begins with the same hour as the next.
 *
 * @returns Hours since 1970 UTC; a fraction if a day begins between two.
 *
 * @example
 * listDayHours({ first: 0, last: 1, zone: "Europe/Paris" }); // [-1, 23, 47]
 */
export function listDayHours({ first, last, zone }: DayRange): number[] {
  return Array.from(
    { length: last - first + 2 },
    (_, index) => findDayStart(first + index, zone) / HOUR_MS,
  );
}

/**
 * Creates the resource of an account, with its usage of each day.
 *
 * @param range The days, also those without use; but not those that clocks skip.
 * @param used The days with use, in any order; those outside the range are left out.
 * @throws {RangeError} Unless both days are whole numbers, and the last is not before the first.
 *
 * @example
 * const account = { name: "acme", balance: 7 };
 * createAccountDetails(account, { first: 0, last: 0 }, []).usage[0].day; // "1970-01-01"
 */
export function createAccountDetails(
  { name, balance }: { readonly name: string; readonly balance: number },
  range: DayRange,
  used: Iterable<UsageDay>,
): AccountDetails {
  const { first, last, zone } = range;
  assertWholeNumber("first", first, FIRST_DAY);
  assertWholeNumber("last", last, first);
  const days = Array.from({ length: last - first + 1 }, (_, index): UsageDay => {
    return { day: first + index, requests: 0, credits: 0, refunded: 0 };
  });
  for (const usage of used) {
    const index = usage.day - first;
    if (days[index] !== undefined) days[index] = usage;
  }
  const hours = listDayHours(range);
  const existing = days.filter((_, index) => hours[index] !== hours[index + 1]);
  const usage = existing.map(({ day, requests, credits, refunded }) => {
    return { day: formatDay(day), requests, credits, refunded };
  });
  return { account: name, balance, ...(zone === undefined ? {} : { zone }), usage };
}
