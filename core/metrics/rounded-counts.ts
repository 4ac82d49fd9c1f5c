/**
 * Recognizes counts that their source rounds: YouTube cuts 1,234,567 subscribers to the three digits
 * of 1,230,000. Then a change can be a rounding step.
 */

/** Counts below this number are exact. */
const ROUNDED_MIN = 1000;

/** From here on, a single count that ends in zeros is taken as rounded: 1 in 100 is exact. */
const SINGLE_ROUNDED_MIN = 10_000;

/**
 * The distance to the next count that a source with three digits can tell; 1 below 1,000.
 *
 * @example
 * getRoundingStep(1_230_000); // 10_000
 */
export function getRoundingStep(count: number): number {
  let step = 1;
  while (count >= step * ROUNDED_MIN) step *= 10;
  return step;
}

/**
 * Finds the rounding step of the greatest count.
 *
 * @param counts In any order; `null` is unknown.
 * @returns 0 unless all counts from 1,000 on have three digits and zeros, and there are two
 * different ones or one from 10,000 on.
 *
 * @example
 * findRoundingStep([1_230_000, null, 1_240_000]); // 10_000
 * findRoundingStep([1_230_000, 1_234_567]); // 0
 */
export function findRoundingStep(counts: readonly (number | null)[]): number {
  // Stryker disable next-line MethodExpression,ConditionalExpression: only the type needs it.
  const known = counts.filter((count) => count !== null);
  const large = new Set(known.filter((count) => count >= ROUNDED_MIN));
  // As arguments of one call, a million counts would be too many.
  let greatest = 0;
  for (const count of large) greatest = Math.max(greatest, count);
  const isTelling = large.size > 1 || greatest >= SINGLE_ROUNDED_MIN;
  const isRounded = [...large].every((count) => count % getRoundingStep(count) === 0);
  return isTelling && isRounded ? getRoundingStep(greatest) : 0;
}

/**
 * Whether a change is at most one rounding step.
 *
 * @param count The count after the change.
 *
 * @example
 * isRoundingStep(1_240_000, 10_000); // true
 */
export function isRoundingStep(count: number | null, change: number | null): boolean {
  // Stryker disable next-line ConditionalExpression: only the type needs it.
  if (count === null || change === null) return false;
  return Math.abs(countRoundingSteps(count - change, count)) <= 1;
}

/**
 * Whether counts changed by a single rounding step, from the first known count to the last.
 *
 * @param counts Oldest first; `null` is unknown.
 *
 * @example
 * isChangeRounding([1_230_000, null, 1_240_000]); // true
 */
export function isChangeRounding(counts: readonly (number | null)[]): boolean {
  const [first, ...later] = counts.filter((count) => count !== null);
  const last = later.at(-1);
  // Stryker disable next-line ConditionalExpression,LogicalOperator: only the type needs it.
  if (first === undefined || last === undefined) return false;
  if (first === last) return false;
  return findRoundingStep(counts) > 0 && isRoundingStep(last, last - first);
}

/**
 * Counts the steps from one count to another, of a source that rounds to three digits: negative for
 * a fall.
 *
 * @example
 * countRoundingSteps(998_000, 1_010_000); // 3
 */
export function countRoundingSteps(from: number, to: number): number {
  return getStepNumber(to) - getStepNumber(from);
}

/** The position of a rounded count among all of them: each power of ten from 1,000 on has 900. */
function getStepNumber(count: number): number {
  const step = getRoundingStep(count);
  return Math.round(Math.log10(step)) * 900 + Math.floor(count / step);
}
