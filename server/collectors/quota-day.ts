/** The days of a quota, which begin at midnight in a time zone of the source. */
import { DAY_MS } from "../../core/time.ts";

/** By time zone. To create one takes longer than a thousand uses. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the quota day of an instant.
 *
 * @param at Milliseconds since 1970 UTC.
 * @throws {RangeError} The time zone or the instant does not exist.
 *
 * @example
 * formatQuotaDay(Date.parse("2026-11-20T07:59:59Z"), "America/Los_Angeles"); // "2026-11-19"
 */
export function formatQuotaDay(at: number, timeZone: string): string {
  let formatter = formatters.get(timeZone);
  if (formatter === undefined) {
    const digits = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
    formatter = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", { timeZone, ...digits });
    formatters.set(timeZone, formatter);
  }
  const parts = new Map(formatter.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${parts.get("year")?.padStart(4, "0")}-${parts.get("month")}-${parts.get("day")}`;
}

/**
 * Finds when the next quota day begins, also after a day of 23 or 25 hours. If clocks go back over
 * midnight, it begins after that.
 *
 * @param at Milliseconds since 1970 UTC.
 * @returns The first later instant of another day, in milliseconds since 1970 UTC.
 * @throws {RangeError} The time zone or the instant does not exist.
 *
 * @example
 * findQuotaReset(Date.parse("2026-11-20T12:00Z"), "America/Los_Angeles");
 * // Date.parse("2026-11-21T08:00Z")
 */
export function findQuotaReset(at: number, timeZone: string): number {
  const day = formatQuotaDay(at, timeZone);
  let lower = Math.floor(at);
  let upper = lower + 2 * DAY_MS;
  while (upper - lower > 1) {
    const middle = Math.floor((lower + upper) / 2);
    if (formatQuotaDay(middle, timeZone) === day) lower = middle;
    else upper = middle;
  }
  return upper;
}
