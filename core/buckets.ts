/**
 * Buckets: the points of a history by hour, day, week or month, in UTC. A bucket has the newest known
 * value of each count. One without a point does not exist: nothing is interpolated, nothing summed.
 */
import { DAY_MS, FIRST_INSTANT, HOUR_MS } from "./time.ts";

/** How the points of a history are grouped; `raw` leaves each point by itself. */
export const HISTORY_INTERVALS = ["raw", "hour", "day", "week", "month"] as const;

/** How a history is grouped. */
export type HistoryInterval = (typeof HISTORY_INTERVALS)[number];

/** A point of a history. */
export interface HistoryPoint {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** In the order in which the kind declares them; `null` is unknown. */
  readonly counts: readonly (number | null)[];
}

/** The points of a bucket as one. */
export interface HistoryBucket {
  /** Where the bucket starts, in milliseconds since 1970 UTC; of `raw`, the instant of the point. */
  readonly start: number;
  /** The instant of its newest point. */
  readonly observedAt: number;
  /** The newest known value of each count; `null` if no point of the bucket knows it. */
  readonly counts: readonly (number | null)[];
}

const WEEK_MS = 7 * DAY_MS;

/** 1970-01-05, the first Monday. */
const FIRST_MONDAY = 4 * DAY_MS;

/**
 * Returns the start of the bucket of an instant. A week starts on Monday, the first one with the
 * year 0, because no instant before it can be written.
 *
 * @param at Milliseconds since 1970 UTC.
 *
 * @example
 * findBucketStart(Date.UTC(2026, 10, 22, 8), "week") === Date.UTC(2026, 10, 16); // true
 */
export function findBucketStart(at: number, interval: HistoryInterval): number {
  switch (interval) {
    case "raw":
      return at;
    case "hour":
      return Math.floor(at / HOUR_MS) * HOUR_MS;
    case "day":
      return Math.floor(at / DAY_MS) * DAY_MS;
    case "week":
      return Math.max(FIRST_INSTANT, findMonday(at));
    case "month":
      return new Date(new Date(at).setUTCDate(1)).setUTCHours(0, 0, 0, 0);
  }
}

function findMonday(at: number): number {
  return Math.floor((at - FIRST_MONDAY) / WEEK_MS) * WEEK_MS + FIRST_MONDAY;
}

/**
 * Returns where a bucket ends, which is where the next one can start.
 *
 * @param start Its start, from {@link findBucketStart}.
 *
 * @example
 * findBucketEnd(Date.UTC(2026, 1, 1), "month") === Date.UTC(2026, 2, 1); // true
 */
export function findBucketEnd(start: number, interval: HistoryInterval): number {
  switch (interval) {
    case "raw":
      return start + 1;
    case "hour":
      return start + HOUR_MS;
    case "day":
      return start + DAY_MS;
    case "week":
      return findMonday(start) + WEEK_MS;
    case "month": {
      const date = new Date(start);
      return date.setUTCMonth(date.getUTCMonth() + 1);
    }
  }
}

/**
 * Groups points into buckets.
 *
 * @param points In any order. Of points at one instant, the greater count wins, as in a merge.
 * @returns The buckets that have a point, oldest first.
 *
 * @example
 * const points = [{ at: 1, counts: [null, 7] }, { at: 0, counts: [5, 6] }];
 * groupIntoBuckets(points, "day"); // [{ start: 0, observedAt: 1, counts: [5, 7] }]
 */
export function groupIntoBuckets(
  points: Iterable<HistoryPoint>,
  interval: HistoryInterval,
): HistoryBucket[] {
  const newestFirst: HistoryBucket[] = [];
  const sorted = sortPoints(points);
  for (let index = sorted.length - 1; index >= 0; index--) {
    const point = sorted[index];
    const bucket = newestFirst.at(-1);
    // Stryker disable next-line ConditionalExpression: only the type needs it.
    if (point === undefined) break;
    if (bucket === undefined || point.at < bucket.start) {
      const { at, counts } = point;
      newestFirst.push({ start: findBucketStart(at, interval), observedAt: at, counts });
      continue;
    }
    const counts = fillUnknownCounts(bucket.counts, point.counts);
    // Stryker disable next-line ConditionalExpression: only faster.
    if (counts !== bucket.counts) newestFirst[newestFirst.length - 1] = { ...bucket, counts };
  }
  return newestFirst.toReversed();
}

/**
 * Sorts points by their instant.
 *
 * @returns Oldest first, no two at one instant: of those, the greater count wins.
 *
 * @example
 * sortPoints([{ at: 5, counts: [7] }, { at: 1, counts: [4] }, { at: 5, counts: [6] }]);
 * // [{ at: 1, counts: [4] }, { at: 5, counts: [7] }]
 */
export function sortPoints(points: Iterable<HistoryPoint>): readonly HistoryPoint[] {
  const given = [...points];
  // Stores list points in order: to see that takes less time than to sort them.
  // Stryker disable next-line ConditionalExpression: only faster.
  if (isAscending(given)) return given;
  const sorted: HistoryPoint[] = [];
  for (const point of given.toSorted((a, b) => a.at - b.at)) {
    const last = sorted.at(-1);
    if (last?.at !== point.at) sorted.push(point);
    else sorted[sorted.length - 1] = { at: last.at, counts: maxCounts(last.counts, point.counts) };
  }
  return sorted;
}

// Stryker disable all: without it, points that are in order are sorted again.
function isAscending(points: readonly HistoryPoint[]): boolean {
  let last = -Infinity;
  for (const { at } of points) {
    if (at <= last) return false;
    last = at;
  }
  return true;
}
// Stryker restore all

function maxCounts(
  a: readonly (number | null)[],
  b: readonly (number | null)[],
): (number | null)[] {
  return a.map((count, index) => {
    const other = b[index] ?? null;
    return count === null ? other : Math.max(count, other ?? count);
  });
}

/**
 * Fills the unknown counts with earlier ones.
 *
 * @returns `counts` itself if there is nothing to fill.
 *
 * @example
 * fillUnknownCounts([null, 7, null], [5, 6, null]); // [5, 7, null]
 */
export function fillUnknownCounts(
  counts: readonly (number | null)[],
  earlier: readonly (number | null)[],
): readonly (number | null)[] {
  // Stryker disable next-line EqualityOperator: there is no count at the end.
  for (let index = 0; index < counts.length; index++) {
    if (counts[index] !== null || typeof earlier[index] !== "number") continue;
    return counts.map((known, other) => known ?? earlier[other] ?? null);
  }
  return counts;
}

/** A row of a comparison: one count of several entities in the same bucket. */
export interface ComparisonRow {
  /** The start of the bucket, in milliseconds since 1970 UTC. */
  readonly start: number;
  /** In the order of the entities; `null` where the bucket has no point or an unknown count. */
  readonly counts: readonly (number | null)[];
}

/**
 * Aligns one count of several histories by bucket.
 *
 * @param histories The buckets of each entity, oldest first.
 * @param countIndex Which count.
 * @returns A row for each bucket that at least one of them has, oldest first.
 *
 * @example
 * const history = groupIntoBuckets([{ at: 0, counts: [5] }], "day");
 * alignBuckets([history, []], 0); // [{ start: 0, counts: [5, null] }]
 */
export function alignBuckets(
  histories: readonly (readonly HistoryBucket[])[],
  countIndex: number,
): ComparisonRow[] {
  const rows = new Map<number, (number | null)[]>();
  for (const [entity, buckets] of histories.entries()) {
    for (const { start, counts } of buckets) {
      let row = rows.get(start);
      if (row === undefined) rows.set(start, (row = histories.map(() => null)));
      row[entity] = counts[countIndex] ?? null;
    }
  }
  return Array.from(rows, ([start, counts]) => ({ start, counts })).toSorted(
    (a, b) => a.start - b.start,
  );
}
