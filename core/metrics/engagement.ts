/** Computes the share of an item's viewers who reacted. */
import { roundMetric } from "./round.ts";

/**
 * Computes reactions over views.
 *
 * Formula: the sum of the reactions / views. Unit: a ratio; 0.05 is one reaction for 20 views.
 * Window: counts of one observation. Limits: `null` if one of the counts is unknown, or `views` is
 * 0. It has 4 decimals.
 *
 * @example
 * computeEngagement([4, 1], 100); // 0.05
 */
export function computeEngagement(
  reactions: readonly (number | null)[],
  views: number | null,
): number | null {
  let sum = 0;
  for (const count of reactions) {
    if (count === null) return null;
    sum += count;
  }
  // Nothing over 0 views is finite, so it is null.
  // Stryker disable next-line ConditionalExpression: only the type needs it.
  return views === null ? null : roundMetric(sum / views);
}
