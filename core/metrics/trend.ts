/** Estimates a count that its source rounds, and its growth, from the instants of its changes. */
import { DAY_MS } from "../time.ts";
import type { CountPoint } from "./count-points.ts";
import { predictValue, fitLine, type Line, type LinePoint } from "./line.ts";
import { roundMetric } from "./round.ts";
import { countRoundingSteps, findRoundingStep, getRoundingStep } from "./rounded-counts.ts";

/** The days that trends, projections and milestones look back. */
export const TREND_DAYS = 30;

/** With fewer changes of a rounded count, there is no trend. */
export const TREND_MIN_CHANGES = 4;

/** The trend of a rounded count: an estimate, not a count that a source told. */
export interface Trend {
  /** The estimated count at the newest observation, a whole number. */
  readonly estimate: number;
  /** The estimated growth per day, with 4 decimals. */
  readonly perDay: number;
  /** The step of the source's rounding at the greatest count. */
  readonly roundingStep: number;
  /** How many changes it is fitted through. */
  readonly changes: number;
  /** The standard error of the estimate, with 4 decimals. */
  readonly standardError: number;
}

/** Picks the points of the last 30 days before the newest observation. */
export function listWindowPoints(points: readonly CountPoint[], newestAt: number): CountPoint[] {
  return points.filter(({ at }) => at >= newestAt - TREND_DAYS * DAY_MS);
}

/**
 * Lists the instants at which a rounded count changed, with the true count at each.
 *
 * A source that cuts digits off rises to `v` when the true count reaches `v`, and falls to `v` when
 * it falls below the next step. That happened between two observations: in the middle between them,
 * or, of a change by several steps, in the middle of the last one's share of the time.
 *
 * @param points Oldest first.
 * @returns `x` in milliseconds since 1970, `y` in counts.
 *
 * @example
 * listChanges([{ at: 0, count: 1_230_000 }, { at: 10, count: 1_240_000 }]);
 * // [{ x: 5, y: 1_240_000 }]
 */
export function listChanges(points: readonly CountPoint[]): LinePoint[] {
  const changes: LinePoint[] = [];
  // Stryker disable next-line EqualityOperator: there is no point at the end.
  for (let index = 1; index < points.length; index++) {
    const [before, after] = [points[index - 1], points[index]];
    // Stryker disable next-line ConditionalExpression,LogicalOperator: only the type needs it.
    if (before === undefined || after === undefined) continue;
    if (before.count === after.count) continue;
    const steps = countRoundingSteps(before.count, after.count);
    changes.push({
      x: after.at - (after.at - before.at) / (2 * Math.abs(steps)),
      // Stryker disable next-line EqualityOperator: a change has at least one step.
      y: steps > 0 ? after.count : after.count + getRoundingStep(after.count) - 1,
    });
  }
  return changes;
}

/** Fits the line of a trend. @returns `null` with fewer than 4 changes. */
export function fitChanges(points: readonly CountPoint[]): Line | null {
  const changes = listChanges(points);
  return changes.length < TREND_MIN_CHANGES ? null : fitLine(changes);
}

/**
 * Computes the trend of a count that its source rounds to three digits.
 *
 * Formula: a line is fitted by least squares through the changes of the rounded count; `perDay` is
 * its slope. `estimate` is the mean of two estimates, weighted by the inverse of their variances:
 * the prediction of the line for the newest observation, and the middle of the range that its
 * rounded count allows, from it to the next step. It is kept within this range. Unit: counts, and
 * counts per day. Window: the last 30 days before the newest observation. Limits: `null` if the
 * counts are exact, with fewer than 4 changes, and if the newest observation does not tell the
 * count. Supposes that the source cuts digits off: if it rounds to the nearest, the estimate is too
 * great by half a step.
 *
 * @param points The known counts, oldest first.
 * @param newestAt The instant of the newest observation, in milliseconds since 1970 UTC.
 *
 * @example
 * const points = [0, 1, 2, 3, 4].map((day) => ({ at: day * 86_400_000, count: 50_000 + day * 100 }));
 * computeTrend(points, 4 * 86_400_000);
 * // { estimate: 50_450, perDay: 100, roundingStep: 100, changes: 4, standardError: 0 }
 */
export function computeTrend(points: readonly CountPoint[], newestAt: number): Trend | null {
  const window = listWindowPoints(points, newestAt);
  const newest = window.at(-1);
  const roundingStep = findRoundingStep(window.map(({ count }) => count));
  if (newest?.at !== newestAt || roundingStep === 0) return null;
  const line = fitChanges(window);
  if (line === null) return null;
  const range = getRoundingStep(newest.count);
  const middle = newest.count + (range - 1) / 2;
  const predicted = predictValue(line, newestAt);
  const variances = { line: predicted.standardError ** 2, range: range ** 2 / 12 };
  const weight = variances.line / (variances.line + variances.range);
  const estimate = Math.round(predicted.value + weight * (middle - predicted.value));
  return {
    estimate: Math.min(newest.count + range - 1, Math.max(newest.count, estimate)),
    perDay: roundMetric(line.slope * DAY_MS) ?? 0,
    roundingStep,
    changes: line.size,
    standardError: roundMetric(Math.sqrt(weight * variances.range)) ?? 0,
  };
}
