/** Rounds the values of metrics. */

/** The decimals of a metric. */
const DECIMALS_FACTOR = 10_000;

/**
 * Rounds a metric to 4 decimals. Half of the last one is rounded up.
 *
 * @returns `null` for what is not finite; never -0.
 *
 * @example
 * roundMetric(2 / 3); // 0.6667
 * roundMetric(1 / 0); // null
 */
export function roundMetric(value: number): number | null {
  if (!Number.isFinite(value)) return null;
  const scaled = value * DECIMALS_FACTOR;
  // From 2^53 on, a number has no fraction. Adding 0 makes 0 of -0.
  if (Math.abs(scaled) > Number.MAX_SAFE_INTEGER) return value;
  return Math.round(scaled) / DECIMALS_FACTOR + 0;
}
