/** The days filter of `/tweets` and `/followers`. */
import type { TimeRange } from "./growth.ts";
import { DAY_MS } from "./time.ts";

/**
 * The first instant that a days filter selects. It counts back from now and includes its end; what
 * is dated ahead of the clock counts as now.
 *
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * computeDaysFilterStart(Date.parse("2026-11-20T12:00:00Z"), 3); // 2026-11-17T12:00:00Z, in milliseconds
 */
export function computeDaysFilterStart(now: number, days: number): number {
  return now - days * DAY_MS;
}

/**
 * Keeps the items of the last days, in their order.
 *
 * @param instantOf The instant of an item, in milliseconds.
 *
 * @example
 * filterDays(tweets, (tweet) => tweet.createdAt, 3, now);
 */
export function filterDays<Item>(
  items: readonly Item[],
  instantOf: (item: Item) => number,
  days: number,
  now: number,
): Item[] {
  const start = computeDaysFilterStart(now, days);
  return items.filter((item) => instantOf(item) >= start);
}

/**
 * For how long a days filter selects the same: from now until the oldest item leaves.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param oldest The instant of the oldest item that is selected; `null` where none is.
 *
 * @example
 * computeDaysFilterValidity(now, null, 3).to; // Infinity
 */
export function computeDaysFilterValidity(
  now: number,
  oldest: number | null,
  days: number,
): TimeRange {
  return { from: now, to: oldest === null ? Infinity : oldest + days * DAY_MS };
}
