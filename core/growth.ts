/**
 * Growth: how counts changed between observations. The store restates which counts are compared in
 * SQL; `tests/store/history/long-histories.test.ts` compares both.
 */
import { DAY_MS } from "./time.ts";

/** A count at an instant (milliseconds since 1970 UTC); `null` if the source did not report it. */
export interface CountPoint {
  readonly at: number;
  readonly count: number | null;
}

/** A range of instants, both ends included, in milliseconds since 1970 UTC. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** How many days each gain of a channel looks back. */
export const GAIN_DAYS = {
  dailySubscriberGain: 1,
  weeklySubscriberGain: 7,
  monthlySubscriberGain: 30,
} as const;

/** The gains of a channel; `null` if unknown. */
export type SubscriberGains = Record<keyof typeof GAIN_DAYS, number | null>;

/**
 * Where a gain looks for its baseline: from `days` to twice `days` before the newest observation. A
 * gain over a longer gap would be a guess.
 *
 * @param newestAt Milliseconds since 1970 UTC.
 */
export function computeBaselineRange(newestAt: number, days: number): TimeRange {
  return { from: newestAt - 2 * days * DAY_MS, to: newestAt - days * DAY_MS };
}

/** The gain from a past count to the newest; a loss is negative; `null` if either is unknown. */
export function computeGain(newest: number | null, past: number | null): number | null {
  return newest === null || past === null ? null : newest - past;
}

/**
 * The gains of a channel.
 *
 * @param newest The newest observation of its subscribers.
 * @param findNewestCount Returns the newest known count within a range, or `null`.
 *
 * @example
 * computeSubscriberGains({ at: Date.UTC(2026, 10, 20), count: 130 }, () => 100);
 * // { dailySubscriberGain: 30, weeklySubscriberGain: 30, monthlySubscriberGain: 30 }
 */
export function computeSubscriberGains(
  newest: CountPoint,
  findNewestCount: (range: TimeRange) => number | null,
): SubscriberGains {
  const computeGainOver = (days: number) =>
    computeGain(newest.count, findNewestCount(computeBaselineRange(newest.at, days)));
  return {
    dailySubscriberGain: computeGainOver(GAIN_DAYS.dailySubscriberGain),
    weeklySubscriberGain: computeGainOver(GAIN_DAYS.weeklySubscriberGain),
    monthlySubscriberGain: computeGainOver(GAIN_DAYS.monthlySubscriberGain),
  };
}

/** A follower count at an instant (milliseconds since 1970 UTC). */
export interface FollowerPoint {
  readonly at: number;
  readonly followers: number;
}

/** A follower count and its difference from the one before. */
export interface FollowerChange extends FollowerPoint {
  readonly change: number;
}

/**
 * Adds to each follower count its difference from the one before; `0` for the oldest.
 *
 * @param points Known counts, newest first.
 * @param count How many results to return. One more point gives the oldest of them its difference.
 *
 * @example
 * computeFollowerChanges([{ at: 2, followers: 12 }, { at: 1, followers: 10 }], 1);
 * // [{ at: 2, followers: 12, change: 2 }]
 */
export function computeFollowerChanges(
  points: readonly FollowerPoint[],
  count: number,
): FollowerChange[] {
  return points.slice(0, count).map(({ at, followers }, index) => {
    const previous = points[index + 1];
    return { at, followers, change: previous === undefined ? 0 : followers - previous.followers };
  });
}
