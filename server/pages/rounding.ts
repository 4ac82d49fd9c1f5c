/** Counts that their source rounds: YouTube gives 1,234,567 subscribers as 1,230,000. */
import type { Measure } from "./format.ts";

/** Smaller counts are exact. */
const ROUNDED_MIN = 1000;

/** A single count that ends in zeros is rounded from here on, but for one in a hundred. */
const SINGLE_ROUNDED_MIN = 10_000;

/** The least height of a chart of rounded counts, in steps: a step is no cliff then. */
export const LEAST_STEPS = 5;

const getStep = (count: number): number =>
  count < ROUNDED_MIN ? 1 : 10 ** (Math.floor(Math.log10(count)) - 2);

/** Finds the rounding step of the greatest count if all end in the zeros of theirs; 0 if they are exact. */
export function findRoundingStep(counts: readonly (number | null)[]): number {
  const known = counts.filter((count) => count !== null);
  const large = new Set(known.filter((count) => count >= ROUNDED_MIN));
  const greatest = Math.max(0, ...large);
  const isTelling = large.size > 1 || greatest >= SINGLE_ROUNDED_MIN;
  const isRounded = [...large].every((count) => count % getStep(count) === 0);
  return isTelling && isRounded ? getStep(greatest) : 0;
}

/** Whether all that counts changed by, from the first known to the last, is a step of the rounding. */
export function isChangeRounding(counts: readonly (number | null)[]): boolean {
  const [first, ...later] = counts.filter((count) => count !== null);
  const last = later.at(-1);
  if (first === undefined || last === undefined || first === last) return false;
  return findRoundingStep(counts) > 0 && isRoundingStep(last, last - first);
}

/** Finds the least height of a chart: that of the counts with the highest steps, if they change. */
export function findLeastSpan(
  compared: readonly (readonly (number | null)[])[],
  measure: Measure,
): number | undefined {
  const spans = compared.flatMap((counts) => {
    const known = counts.filter((count) => count !== null);
    const [base = 0] = known;
    const span = findRoundingStep(known) * LEAST_STEPS;
    if (span === 0 || known.every((count) => count === base)) return [];
    if (measure !== "percent") return [span];
    return base === 0 ? [] : [(span / base) * 100];
  });
  return spans.length === 0 ? undefined : Math.max(...spans);
}

/** Whether the change to a rounded count is at most one step: it may be next to nothing. */
export function isRoundingStep(count: number | null, change: number | null): boolean {
  if (count === null || change === null) return false;
  return Math.abs(change) <= getStep(Math.max(count, count - change));
}
