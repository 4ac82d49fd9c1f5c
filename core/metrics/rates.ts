/** Computes gains in percent, and how fast a count grows. */
import { computeGain, computeGainBaseline } from "../growth.ts";
import { HOUR_MS } from "../time.ts";
import { RATE_WINDOWS, type RateWindow } from "./catalog.ts";
import { findNewestPoint, type CountPoint } from "./count-points.ts";
import { roundMetric } from "./round.ts";

/** A count of the newest observation of an entity, and the known ones. */
export interface CountHistory {
  /** The instant of the newest observation, in milliseconds since 1970 UTC. */
  readonly newestAt: number;
  /** The known values, oldest first, none after `newestAt`. */
  readonly points: readonly CountPoint[];
}

/**
 * Finds the count of the newest observation; `null` if that did not tell it.
 *
 * @example
 * findPresentCount({ newestAt: 6, points: [{ at: 5, count: 7 }] }); // null
 */
export function findPresentCount({ newestAt, points }: CountHistory): number | null {
  const last = points.at(-1);
  return last?.at === newestAt ? last.count : null;
}

/** A gain: in numbers, and in percent of the past count. */
export interface CountGain {
  readonly gain: number | null;
  readonly percent: number | null;
}

/**
 * Computes the gain of a count over a number of days.
 *
 * Formula: `gain` = present count - past count; `percent` = 100 * `gain` / past count. Unit: counts,
 * and percent. Window: the newest observation, and the newest known count from `days` to 2 * `days`
 * before it. Limits: both are `null` if one of the counts is unknown; `percent` also for a gain from
 * 0. It has 4 decimals. A loss is negative.
 *
 * @example
 * const points = [{ at: 0, count: 200 }, { at: 86_400_000, count: 205 }];
 * computeCountGain({ newestAt: 86_400_000, points }, 1); // { gain: 5, percent: 2.5 }
 */
export function computeCountGain(history: CountHistory, days: number): CountGain {
  const baseline = computeGainBaseline(history.newestAt, days);
  const past = findNewestPoint(history.points, baseline)?.count ?? null;
  const gain = computeGain(findPresentCount(history), past);
  return { gain, percent: computeGainPercent(gain, past) };
}

/**
 * Computes a gain in percent of the past count: 100 * gain / past count, with 4 decimals.
 *
 * @returns `null` if one of them is unknown, and for a gain from 0.
 *
 * @example
 * computeGainPercent(-5, 200); // -2.5
 */
export function computeGainPercent(gain: number | null, past: number | null): number | null {
  // Stryker disable next-line ConditionalExpression: only the type needs it.
  if (gain === null || past === null) return null;
  // A gain from 0 is not finite, so it is null.
  return roundMetric((100 * gain) / past);
}

/**
 * Computes how fast a count grows, per hour or per day.
 *
 * Formula: (present count - past count) / the time between. Unit: counts per hour or per day.
 * Window: the newest observation, and the newest known count from 1 to 24 hours before it (per
 * hour), or from 24 hours to 7 days before it (per day). Limits: `null` if one of the counts is
 * unknown. It has 4 decimals. A loss is negative.
 *
 * @example
 * const points = [{ at: 0, count: 10 }, { at: 7_200_000, count: 15 }];
 * computeRate({ newestAt: 7_200_000, points }, "PerHour"); // 2.5
 */
export function computeRate(history: CountHistory, window: RateWindow): number | null {
  const { minHours, maxHours, unitHours } = RATE_WINDOWS[window];
  const { newestAt, points } = history;
  const present = findPresentCount(history);
  const past = findNewestPoint(points, {
    from: newestAt - maxHours * HOUR_MS,
    to: newestAt - minHours * HOUR_MS,
  });
  if (present === null || past === undefined) return null;
  return roundMetric(((present - past.count) * unitHours * HOUR_MS) / (newestAt - past.at));
}
