/** Growth: what a count gained or lost between observations. */
import type { ChannelDetails } from "./schema/video.ts";
import { DAY_MS } from "./time.ts";

/** A count at an instant; `null` where the source didn't tell. */
export interface CountPoint {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  readonly count: number | null;
}

/** A span of time, both ends included, in milliseconds since 1970 UTC. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** The gains of a channel, and the days that each looks back. */
export const GAIN_DAYS = {
  dailySubscriberGain: 1,
  weeklySubscriberGain: 7,
  monthlySubscriberGain: 30,
} as const;

/**
 * Where to look for the count that a gain over some days compares with: at least that many days
 * and at most twice as many before the newest observation. A gain over a longer gap would be a
 * guess.
 */
export function computeBaselineRange(newestAt: number, days: number): TimeRange {
  return { from: newestAt - 2 * days * DAY_MS, to: newestAt - days * DAY_MS };
}

/**
 * The gain from a past count to the present one; a loss is negative; `null` where either is
 * unknown.
 */
export function computeGain(present: number | null, past: number | null): number | null {
  return present === null || past === null ? null : present - past;
}

/**
 * The statistics of a channel.
 *
 * @param newest The newest observation of its subscribers.
 * @param findNewestCount The newest known count within a span, or `null`.
 *
 * @example
 * computeSubscriberGains({ at: now, count: 130 }, () => 100); // every gain is 30
 */
export function computeSubscriberGains(
  newest: CountPoint,
  findNewestCount: (span: TimeRange) => number | null,
): ChannelDetails["statistics"] {
  const computeGainOver = (days: number) =>
    computeGain(newest.count, findNewestCount(computeBaselineRange(newest.at, days)));
  return {
    dailySubscriberGain: computeGainOver(GAIN_DAYS.dailySubscriberGain),
    weeklySubscriberGain: computeGainOver(GAIN_DAYS.weeklySubscriberGain),
    monthlySubscriberGain: computeGainOver(GAIN_DAYS.monthlySubscriberGain),
  };
}

/** A follower count and how it differs from the one known just before. */
export interface FollowerChange {
  readonly at: number;
  readonly followers: number;
  readonly change: number;
}

/**
 * Tells each known count's difference from the known count just before it; `0` for the first.
 *
 * @param points Newest first.
 * @param count How many changes are wanted; a point more lets the oldest of them be compared.
 *
 * @example
 * computeFollowerChanges([{ at: 2, followers: 12 }, { at: 1, followers: 10 }], 1);
 * // [{ at: 2, followers: 12, change: 2 }]
 */
export function computeFollowerChanges(
  points: readonly { readonly at: number; readonly followers: number }[],
  count: number,
): FollowerChange[] {
  return points.slice(0, count).map((point, index) => {
    const previous = points[index + 1];
    const { at, followers } = point;
    return { at, followers, change: previous === undefined ? 0 : followers - previous.followers };
  });
}
