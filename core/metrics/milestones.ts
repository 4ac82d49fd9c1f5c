/** Finds the round numbers that a count has passed, and when it reaches the next one. */
import { DAY_MS } from "../time.ts";
import type { CountPoint } from "./count-points.ts";
import { computePaceRange, fitLine, type Line } from "./line.ts";
import { findRoundingStep, getRoundingStep } from "./rounded-counts.ts";
import { fitChanges, listWindowPoints } from "./trend.ts";

/** The least milestone. Milestones are the numbers from here on with one digit other than 0. */
export const MILESTONE_MIN = 100;

/** With fewer days that have a known count, there is no projection. */
export const PROJECTION_MIN_DAYS = 10;

/** A line that explains less of the variance of the counts is no pace. */
export const PROJECTION_MIN_R_SQUARED = 0.8;

/** A milestone that can be later than this is not projected: 5 years of 365 days. */
export const PROJECTION_MAX_DAYS: number = 5 * 365;

/** When a count passed a milestone. */
export interface PassedMilestone {
  /** A count with one digit other than 0. */
  readonly milestone: number;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/** When a count will reach a milestone, at its pace: an estimate. */
export interface Projection {
  /** A count with one digit other than 0. */
  readonly milestone: number;
  /** The earliest instant, in milliseconds since 1970 UTC. */
  readonly from: number;
  /** The latest instant, in milliseconds since 1970 UTC. */
  readonly to: number;
}

/**
 * Finds the greatest milestone that a count has reached: a number with one digit other than 0.
 *
 * @returns 0 for a count below 100.
 *
 * @example
 * findLastMilestone(7_654); // 7_000
 */
export function findLastMilestone(count: number): number {
  const distance = getMilestoneDistance(count);
  return Math.floor(count / distance) * distance;
}

/** The distance between the milestones around a count. */
function getMilestoneDistance(count: number): number {
  let distance = MILESTONE_MIN;
  while (count >= distance * 10) distance *= 10;
  return distance;
}

/**
 * Finds the least milestone above a count: a number from 100 on with one digit other than 0.
 *
 * @example
 * findNextMilestone(7_000); // 8_000
 * findNextMilestone(954_321); // 1_000_000
 */
export function findNextMilestone(count: number): number {
  return findLastMilestone(count) + getMilestoneDistance(count);
}

/**
 * Finds the milestone that a count has passed last.
 *
 * Formula: the last milestone that an observation is at or above after one below it, and the
 * instant of the first such observation. Of several at one instant, the greatest. Unit: a count and
 * an instant. Window: the last 30 days before the newest observation. Limits: a milestone that the
 * newest known count is below is left out; `null` if none is left.
 *
 * @param points The known counts, oldest first.
 * @param newestAt The instant of the newest observation, in milliseconds since 1970 UTC.
 *
 * @example
 * findPassedMilestone([{ at: 5, count: 990 }, { at: 6, count: 2_010 }], 7);
 * // { milestone: 2_000, at: 6 }
 */
export function findPassedMilestone(
  points: readonly CountPoint[],
  newestAt: number,
): PassedMilestone | null {
  const window = listWindowPoints(points, newestAt);
  const newestCount = window.at(-1)?.count ?? 0;
  const passed = new Set<number>();
  let last: PassedMilestone | null = null;
  for (const [index, { at, count }] of window.entries()) {
    const before = window[index - 1]?.count ?? count;
    let greatest = 0;
    for (let step = findNextMilestone(before); step <= count; step = findNextMilestone(step)) {
      if (!passed.has(step) && step <= newestCount) greatest = step;
      passed.add(step);
    }
    if (greatest > 0) last = { milestone: greatest, at };
  }
  return last;
}

/** Picks the newest point of each day in UTC. */
function listDailyPoints(points: readonly CountPoint[]): CountPoint[] {
  const getDay = (point: CountPoint | undefined) => Math.floor((point?.at ?? NaN) / DAY_MS);
  return points.filter((point, index) => getDay(point) !== getDay(points[index + 1]));
}

/**
 * Projects when a count reaches the next milestone at its pace.
 *
 * Formula: (milestone - count) / slope, where the slope is that of the line fitted by least squares
 * through the newest known count of each day; of a count that its source rounds, that of its trend.
 * `from` and `to` are for the ends of the range that has the pace with a probability of 95 %, if the
 * gains of the days are independent and go on as in the window; of a rounded count also for the
 * greatest and the least count that it can be. Unit: instants. Window: the last 30 days before the
 * newest observation. Limits: `null` if the newest observation does not tell the count, with known
 * counts of fewer than 10 days, if the count is rounded and has no trend, if the lower end of the
 * range is not positive, if R² of the line is below 0.8, and if `to` is more than 5 years (1,825
 * days) after the newest observation.
 *
 * @param points The known counts, oldest first.
 * @param newestAt The instant of the newest observation, in milliseconds since 1970 UTC.
 *
 * @example
 * const day = 86_400_000;
 * const points = Array.from({ length: 11 }, (_, index) => ({ at: index * day, count: 6 + index * 9 }));
 * const { milestone, from } = computeProjection(points, 10 * day);
 * [milestone, Math.round(from / day)]; // [100, 10]
 */
export function computeProjection(
  points: readonly CountPoint[],
  newestAt: number,
): Projection | null {
  const window = listWindowPoints(points, newestAt);
  const newest = window.at(-1);
  const daily = listDailyPoints(window);
  if (newest?.at !== newestAt || daily.length < PROJECTION_MIN_DAYS) return null;
  const isRounded = findRoundingStep(window.map(({ count }) => count)) > 0;
  const line = isRounded
    ? fitChanges(window)
    : fitLine(daily.map(({ at, count }) => ({ x: at, y: count })));
  const least = newest.count;
  const greatest = isRounded ? least + getRoundingStep(least) - 1 : least;
  return line === null ? null : projectLine(line, { least, greatest }, newestAt);
}

function projectLine(
  line: Line,
  { least, greatest }: { readonly least: number; readonly greatest: number },
  newestAt: number,
): Projection | null {
  const milestone = findNextMilestone(least);
  const { low, high } = computePaceRange(line, milestone - least);
  // Negated, because both are NaN for a falling line.
  if (!(low > 0) || line.rSquared < PROJECTION_MIN_R_SQUARED) return null;
  const from = Math.round(newestAt + (milestone - greatest) / high);
  const to = Math.round(newestAt + (milestone - least) / low);
  return to - newestAt > PROJECTION_MAX_DAYS * DAY_MS ? null : { milestone, from, to };
}
