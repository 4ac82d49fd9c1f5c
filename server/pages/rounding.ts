/**
 * Counts that their source rounds. YouTube gives subscribers in three digits: 1,234,567 as 1,230,000.
 * A change of one rounding step can be a single subscriber.
 */

/** Smaller counts are exact. */
const ROUNDED_MIN = 1000;

/** A single count that ends in zeros is rounded from here on, but for one in a hundred. */
const SINGLE_ROUNDED_MIN = 10_000;

/** The least height of a chart of rounded counts, in steps: a step is no cliff then. */
export const LEAST_STEPS = 5;

/** The rounding step of counts of this size. */
function getStep(count: number): number {
  return count < ROUNDED_MIN ? 1 : 10 ** (Math.floor(Math.log10(count)) - 2);
}

/**
 * Finds the rounding step of counts whose source rounds them: all end in the zeros of that.
 *
 * @param counts `null` is unknown.
 * @returns The step of the greatest count; 0 if the counts are exact.
 *
 * @example
 * findRoundingStep([1_230_000, null, 998_000]); // 10000
 * findRoundingStep([1_230_000, 1_230_017]); // 0
 */
export function findRoundingStep(counts: readonly (number | null)[]): number {
  const known = counts.filter((count) => count !== null);
  const large = new Set(known.filter((count) => count >= ROUNDED_MIN));
  const greatest = Math.max(0, ...large);
  const isTelling = large.size > 1 || greatest >= SINGLE_ROUNDED_MIN;
  const isRounded = [...large].every((count) => count % getStep(count) === 0);
  return isTelling && isRounded ? getStep(greatest) : 0;
}

/** Whether the change to a rounded count is at most one step: it may be next to nothing. */
export function isRoundingStep(count: number | null, change: number | null): boolean {
  if (count === null || change === null) return false;
  return Math.abs(change) <= getStep(Math.max(count, count - change));
}
