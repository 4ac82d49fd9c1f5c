/** The days of a quota: they begin at midnight where the source counts them. */
import { DAY_MS } from "../../core/time.ts";

/** By zone; making one takes longer than a thousand uses. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * The day of a quota at an instant.
 *
 * @param at Milliseconds since 1970 UTC.
 * @param zone A time zone's name, such as `America/Los_Angeles`.
 * @returns The day as it is written there.
 * @throws {RangeError} There is no such zone, or no such instant.
 *
 * @example
 * formatQuotaDay(Date.parse("2026-11-20T07:59:59Z"), "America/Los_Angeles"); // "2026-11-19"
 */
export function formatQuotaDay(at: number, zone: string): string {
  const parts = new Map<string, string>();
  for (const { type, value } of getFormatter(zone).formatToParts(at)) parts.set(type, value);
  const [year = "", month = "", day = ""] = ["year", "month", "day"].map((type) => parts.get(type));
  return `${year.padStart(4, "0")}-${month}-${day}`;
}

/**
 * When the next day of a quota begins, also where a day has 23 or 25 hours. Where clocks are set
 * back over midnight, it begins after that.
 *
 * @param at Milliseconds since 1970 UTC.
 * @param zone A time zone's name, such as `America/Los_Angeles`.
 * @returns The first instant after `at` that is of another day, in milliseconds since 1970 UTC.
 * @throws {RangeError} There is no such zone, or no such instant.
 *
 * @example
 * findQuotaReset(Date.parse("2026-11-20T12:00Z"), "America/Los_Angeles"); // 2026-11-21T08:00Z
 */
export function findQuotaReset(at: number, zone: string): number {
  const day = formatQuotaDay(at, zone);
  let lower = Math.floor(at);
  let upper = lower + 2 * DAY_MS;
  while (upper - lower > 1) {
    const middle = Math.floor((lower + upper) / 2);
    if (formatQuotaDay(middle, zone) === day) lower = middle;
    else upper = middle;
  }
  return upper;
}

function getFormatter(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
      timeZone: zone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    });
    formatters.set(zone, formatter);
  }
  return formatter;
}
