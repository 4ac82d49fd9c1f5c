/**
 * The channels and users of the demo. All names are invented.
 *
 * Hours are in UTC: `wakeHour` is the one when the creator gets up, `peakHour` the one when most
 * people watch. `followers` and `followingCount` are those at `EPOCH`, with the mean gain of a day and
 * the size of sudden rises and falls; `earlierPosts` counts the posts before it. `postsByWeekday`
 * begins on Monday. `typicalReach` is the views of the median short, or the impressions of the median
 * tweet. One title in `brokenTitleEvery` has two lines. `gap` stands between opening and subject of a
 * text: it is empty in scripts without spaces.
 */
import creators from "./creators.json" with { type: "json" };
import { draw } from "./random.ts";

/** A channel that every demo has, with shorts of the last three days. */
export const DEMO_CHANNEL = "sevenminutesoup";

/** A user that every demo has, with tweets of the last three days. */
export const DEMO_USER = "slowcompiler";

export const { channels: CHANNELS, users: USERS } = creators;

export type DemoCreator = (typeof CHANNELS)[number] | (typeof USERS)[number];

/** Composes the text of a post. Subjects take turns, so that neighbouring posts differ. */
export function composeText({ phrases }: DemoCreator, seed: number, sequence: number): string {
  const { openings, subjects, closings, gap } = phrases;
  const opening = openings[Math.floor(draw(seed, 1) * openings.length)];
  const closing = closings[Math.floor(draw(seed, 2) * closings.length)];
  return `${opening}${gap}${subjects[sequence % subjects.length]}${closing}`;
}
