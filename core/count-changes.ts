/** Changes of counts from one bucket of a history to the next. */
import type { HistoryBucket } from "./buckets.ts";
import { computeGain } from "./growth.ts";

/**
 * Finds the last known value of each count.
 *
 * @param buckets Oldest first; points will do, too.
 * @returns A value for each count of the kind; `null` if no bucket knows it.
 *
 * @example
 * const bucket = { start: 0, observedAt: 0 };
 * findLastKnownCounts([{ ...bucket, counts: [1, 2] }, { ...bucket, counts: [3, null] }]); // [3, 2]
 */
export function findLastKnownCounts(
  buckets: readonly Pick<HistoryBucket, "counts">[],
): (number | null)[] {
  const width = buckets[0]?.counts.length ?? 0;
  return Array.from(
    { length: width },
    (_, index) =>
      buckets.findLast(({ counts }) => typeof counts[index] === "number")?.counts[index] ?? null,
  );
}

/**
 * Computes each count's difference from its last known value before the bucket.
 *
 * @param buckets Oldest first, none left out between them.
 * @param known The last known values before the first bucket; `null` or absent where there is none.
 * @returns For each bucket, in the order of its counts; `null` if either value is unknown.
 *
 * @example
 * const bucket = { start: 0, observedAt: 0 };
 * computeCountChanges([{ ...bucket, counts: [7] }, { ...bucket, counts: [5] }], [4]); // [[3], [-2]]
 */
export function computeCountChanges(
  buckets: readonly Pick<HistoryBucket, "counts">[],
  known: readonly (number | null)[] = [],
): (number | null)[][] {
  const previous = [...known];
  return buckets.map(({ counts }) =>
    counts.map((count, index) => {
      const change = computeGain(count, previous[index] ?? null);
      if (count !== null) previous[index] = count;
      return change;
    }),
  );
}
