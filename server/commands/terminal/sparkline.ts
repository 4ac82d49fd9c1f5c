/** Draws counts over time as a line of blocks. */

const BLOCKS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/**
 * Draws a block for each count: the lowest for the least, the highest for the greatest, and a blank
 * for an unknown one. Counts that are all equal have blocks of half the height.
 *
 * @example
 * formatSparkline([1, null, 8]); // "▁ █"
 */
export function formatSparkline(counts: readonly (number | null)[]): string {
  const known = counts.filter((count) => count !== null);
  const least = known.reduce((a, b) => Math.min(a, b), Infinity);
  const greatest = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const toBlock = (count: number) =>
    greatest === least ? 3 : Math.floor(((count - least) / (greatest - least)) * 7.999);
  return counts.map((count) => (count === null ? " " : BLOCKS[toBlock(count)])).join("");
}

/**
 * Divides counts into equal parts, and takes the last known one of each; `null` if there is none.
 *
 * @example
 * sampleCounts([1, 2, null, 4], 2); // [2, 4]
 */
export function sampleCounts(counts: readonly (number | null)[], parts: number): (number | null)[] {
  const sampled: (number | null)[] = Array.from(
    { length: Math.min(parts, counts.length) },
    () => null,
  );
  for (const [index, count] of counts.entries()) {
    if (count !== null) sampled[Math.floor((index * sampled.length) / counts.length)] = count;
  }
  return sampled;
}

/**
 * Divides the time from the first to the last point into equal parts, and takes the last count of
 * each; `null` if there is none.
 *
 * @param points Oldest first.
 * @param stepMs The time between two points without a gap; 0 if points can be at any time.
 *
 * @example
 * sampleTimes([{ at: 0, count: 5 }, { at: 20, count: 6 }], 10, 60); // [5, null, 6]
 */
export function sampleTimes(
  points: readonly { readonly at: number; readonly count: number | null }[],
  stepMs: number,
  partsMax: number,
): (number | null)[] {
  const first = points[0]?.at ?? 0;
  const spanMs = (points.at(-1)?.at ?? 0) - first;
  const steps = stepMs === 0 ? Infinity : Math.round(spanMs / stepMs) + 1;
  const parts = points.length === 0 ? 0 : Math.min(partsMax, spanMs === 0 ? 1 : steps);
  const sampled: (number | null)[] = Array.from({ length: parts }, () => null);
  for (const { at, count } of points) {
    if (count === null) continue;
    // Months differ in length; their steps are rounded to the nearest.
    const part =
      parts === steps
        ? Math.round((at - first) / stepMs)
        : Math.floor(((at - first) / (spanMs + 1)) * parts);
    sampled[part] = count;
  }
  return sampled;
}
