/** The daily values of the main count of an entity: the column `trend` of lists. */
import { groupIntoBuckets, type HistoryPoint } from "./buckets.ts";
import { MAIN_COUNT_INDEXES, type EntityKind } from "./kinds.ts";
import type { DailyValue } from "./resources/generated/types.ts";
import { DAY_MS, formatDay } from "./time.ts";

/** The days of the column, up to the newest observation. */
export const DAILY_VALUE_DAYS = 30;

/** Finds the start of the first day, if the last is the day of the newest observation. */
export function findFirstDay(newestAt: number): number {
  return (Math.floor(newestAt / DAY_MS) - DAILY_VALUE_DAYS + 1) * DAY_MS;
}

/**
 * Lists the newest known value of each of the last 30 UTC days, up to the day of the newest
 * observation. A day without a known value is left out, and nothing is interpolated.
 *
 * @param points In any order, as for `groupIntoBuckets()`; those before these days are left out.
 *
 * @example
 * listDailyValues("user", [{ at: 5, counts: [7] }, { at: 9, counts: [null] }], 9);
 * // [{ day: "1970-01-01", value: 7 }]
 */
export function listDailyValues(
  kind: EntityKind,
  points: Iterable<HistoryPoint>,
  newestAt: number,
): DailyValue[] {
  const start = findFirstDay(newestAt);
  return groupIntoBuckets(points, "day").flatMap((bucket) => {
    const value = bucket.counts[MAIN_COUNT_INDEXES[kind]];
    const isListed = typeof value === "number" && bucket.start >= start;
    return isListed ? [{ day: formatDay(bucket.start / DAY_MS), value }] : [];
  });
}
