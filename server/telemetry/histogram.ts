/**
 * Histograms of plain numbers, which parts fill and the metrics read. Adding a value takes
 * nanoseconds, several times less than with prom-client: so requests can afford it.
 */

export interface Histogram {
  /** The upper bounds of the buckets, ascending; one more bucket has all larger values. */
  readonly bounds: readonly number[];
  /** How many values each bucket has. */
  readonly counts: number[];
  sum: number;
}

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: [...bounds, 0].map(() => 0),
  sum: 0,
});

export function addValue(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram;
  histogram.sum += value;
  let bucket = 0;
  while (value > (bounds[bucket] ?? Infinity)) bucket++;
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}
