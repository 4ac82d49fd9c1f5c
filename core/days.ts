/** The `days` filter of `/tweets` and `/followers`. */
import type { TimeRange } from "./growth.ts";
import { DAY_MS } from "./time.ts";

/**
 * The first instant that the filter selects. There is no last one: an item dated after `now` is
 * selected too.
 *
 * @param days How many days back.
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * computeDaysFilterStart(3, Date.UTC(2026, 10, 20)) === Date.UTC(2026, 10, 17); // true
 */
export function computeDaysFilterStart(days: number, now: number): number {
  return now - days * DAY_MS;
}

/**
 * Keeps the items of the last days, in their order.
 *
 * @param instantOf Returns the instant of an item, in milliseconds since 1970 UTC.
 * @param days How many days back.
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * filterDays([Date.UTC(2026, 10, 19), 0], (at) => at, 3, Date.UTC(2026, 10, 20)).length; // 1
 */
export function filterDays<Item>(
  items: readonly Item[],
  instantOf: (item: Item) => number,
  days: number,
  now: number,
): Item[] {
  const start = computeDaysFilterStart(days, now);
  return items.filter((item) => instantOf(item) >= start);
}

/**
 * How long the filter selects the same items: from `now` until the oldest one leaves.
 *
 * @param oldest The instant of the oldest selected item; `null` if none is selected.
 * @param days How many days back.
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * computeDaysFilterValidity(null, 3, 0).to; // Infinity
 */
export function computeDaysFilterValidity(
  oldest: number | null,
  days: number,
  now: number,
): TimeRange {
  return { from: now, to: oldest === null ? Infinity : oldest + days * DAY_MS };
}
