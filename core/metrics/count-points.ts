/** The known values of one count over time: what metrics are computed from. */
import type { HistoryPoint } from "../buckets.ts";
import { ENTITY_FIELDS, type EntityKind } from "../kinds.ts";

/** A known count at an instant. */
export interface CountPoint {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** The count, which a source told at this instant. */
  readonly count: number;
}

/**
 * Lists the known values of a count.
 *
 * @param points Oldest first, no two at one instant, as `listHistoryPoints()` lists them.
 *
 * @example
 * const points = [{ at: 5, counts: [7] }, { at: 6, counts: [null] }];
 * listCountPoints("short", "views", points); // [{ at: 5, count: 7 }]
 */
export function listCountPoints(
  kind: EntityKind,
  name: string,
  points: readonly HistoryPoint[],
): CountPoint[] {
  const names: readonly string[] = ENTITY_FIELDS[kind].counts;
  const index = names.indexOf(name);
  const known: CountPoint[] = [];
  for (const { at, counts } of points) {
    const count = counts[index];
    if (typeof count === "number") known.push({ at, count });
  }
  return known;
}

/**
 * Finds the last point at or before an instant.
 *
 * @param points Oldest first.
 * @returns The index of the point; -1 if there is none.
 *
 * @example
 * findLastPointIndex([{ at: 5, count: 7 }, { at: 9, count: 8 }], 8); // 0
 */
export function findLastPointIndex(points: readonly CountPoint[], at: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    // Stryker disable next-line OptionalChaining: only the type needs it.
    if ((points[middle]?.at ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Finds the newest point from `from` to `to`, both included.
 *
 * @param points Oldest first.
 *
 * @example
 * findNewestPoint([{ at: 5, count: 7 }, { at: 9, count: 8 }], { from: 5, to: 8 })?.count; // 7
 */
export function findNewestPoint(
  points: readonly CountPoint[],
  { from, to }: { readonly from: number; readonly to: number },
): CountPoint | undefined {
  const point = points[findLastPointIndex(points, to)];
  return point !== undefined && point.at >= from ? point : undefined;
}

/**
 * Interpolates a count linearly between the two points around an instant, never beyond them.
 *
 * @param points Oldest first, no two at one instant.
 * @param at Milliseconds since 1970 UTC.
 * @returns A point's own count at its instant; `null` before the first and after the last.
 *
 * @example
 * interpolateCount([{ at: 0, count: 10 }, { at: 100, count: 20 }], 25); // 12.5
 */
export function interpolateCount(points: readonly CountPoint[], at: number): number | null {
  const index = findLastPointIndex(points, at);
  const before = points[index];
  if (before === undefined) return null;
  if (before.at === at) return before.count;
  const after = points[index + 1];
  if (after === undefined) return null;
  return before.count + ((after.count - before.count) * (at - before.at)) / (after.at - before.at);
}
