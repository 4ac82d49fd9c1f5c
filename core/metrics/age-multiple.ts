/** Compares an item with the earlier items of its creator, each at the same age. */
import { AGE_MULTIPLE_ITEMS } from "./catalog.ts";
import { findLastPointIndex, interpolateCount, type CountPoint } from "./count-points.ts";
import { roundMetric } from "./round.ts";

/** The known views of an item. */
export interface ItemViews {
  /** When it was published, in milliseconds since 1970 UTC. */
  readonly publishedAt: number;
  /** Oldest first, no two at one instant. */
  readonly points: readonly CountPoint[];
}

/** An item, compared with earlier items at the same age. */
export interface AgeComparison {
  /** Its views over the median, with 4 decimals; `null` is unknown. */
  readonly ageMultiple: number | null;
  /** How many earlier items have known views at this age. */
  readonly comparedItems: number;
  /** The median of their views, with 4 decimals; `null` if there are too few. */
  readonly median: number | null;
}

/**
 * Finds the views of an item and its age, at the newest observation that tells the views.
 *
 * @returns `ageMs` is the time since the publication. `null` if the views are unknown, or were
 * observed before the publication.
 *
 * @example
 * findViewsAtAge({ publishedAt: 100, points: [{ at: 150, count: 7 }] }); // { ageMs: 50, views: 7 }
 */
export function findViewsAtAge({
  publishedAt,
  points,
}: ItemViews): { readonly ageMs: number; readonly views: number } | null {
  const newest = points.at(-1);
  if (newest === undefined || newest.at < publishedAt) return null;
  return { ageMs: newest.at - publishedAt, views: newest.count };
}

/**
 * Finds the views that items had at an age.
 *
 * @param items The newest earlier items of the creator: published before the item that is compared,
 * or at the same instant with a smaller identifier. At most 100.
 * @returns The views of those that have a known count at this age, or known counts around it, none
 * of them from before the publication.
 *
 * @example
 * const points = [{ at: 100, count: 0 }, { at: 200, count: 8 }];
 * listViewsAtAge([{ publishedAt: 100, points }, { publishedAt: 0, points }], 50); // [4]
 */
export function listViewsAtAge(items: Iterable<ItemViews>, ageMs: number): number[] {
  const views: number[] = [];
  for (const { publishedAt, points } of items) {
    // What was counted before the publication says nothing of an age.
    const counted = points.slice(findLastPointIndex(points, publishedAt - 1) + 1);
    const count = interpolateCount(counted, publishedAt + ageMs);
    if (count !== null) views.push(count);
  }
  return views;
}

/**
 * Computes the age multiple of an item.
 *
 * Formula: its views / the median of the views that earlier items of its creator had at its age.
 * Unit: a multiple; 2 is twice the median. Window: the newest observation that tells the views, and
 * the newest 100 earlier items. Limits: `null` if the views are unknown, with fewer than 5 earlier
 * items whose views at this age are known, and for a median of 0. It has 4 decimals.
 *
 * @param views The views of the item; `null` is unknown.
 * @param earlierViews What earlier items had at its age, from `listViewsAtAge()`.
 *
 * @example
 * computeAgeMultiple(30, [10, 5, 20, 10, 40]); // { ageMultiple: 3, comparedItems: 5, median: 10 }
 */
export function computeAgeMultiple(
  views: number | null,
  earlierViews: readonly number[],
): AgeComparison {
  const comparedItems = earlierViews.length;
  if (comparedItems < AGE_MULTIPLE_ITEMS.min)
    return { ageMultiple: null, comparedItems, median: null };
  const median = computeMedian(earlierViews);
  // A multiple of 0 is not finite, so it is null.
  const ageMultiple = views === null ? null : roundMetric(views / median);
  return { ageMultiple, comparedItems, median: roundMetric(median) };
}

/** The median: of an even number of values, the mean of the two in the middle. */
function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
