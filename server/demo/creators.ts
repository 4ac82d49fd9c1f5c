/**
 * Channels and users of the demo (creators.json), and the times of their posts. Names are invented.
 *
 * Hours are in UTC: the creator gets up at `wakeHour`, and most people watch at `peakHour`.
 * `followers` has the count at `EPOCH`, its mean daily gain, and the size of sudden rises and
 * falls. `followingCount` is for `EPOCH`, and `earlierPosts` counts the posts before `EPOCH`.
 * `postsByWeekday` begins on Monday. `typicalReach` is the views of the median short, or the
 * impressions of the median tweet. One title in `brokenTitleEvery` has two lines. `gap` separates
 * opening and subject of a text, and is empty in scripts without spaces.
 */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import creators from "./creators.json" with { type: "json" };
import { draw, hashSeed } from "./random.ts";

/** A channel that every demo has, with shorts of the last three days. */
export const DEMO_CHANNEL = "sevenminutesoup";

/** A user that every demo has, with tweets of the last three days. */
export const DEMO_USER = "slowcompiler";

export const { channels: CHANNELS, users: USERS } = creators;

export type DemoCreator = (typeof CHANNELS)[number] | (typeof USERS)[number];

/** The start of the schedule, a Monday. Nothing is published or observed before it. */
export const EPOCH = Date.UTC(2024, 0, 1);

const AWAKE_HOURS = 16;

/** Lists the posts of a day, counted from `EPOCH`; `sequence` is the number of earlier posts. */
export function listSlots(creator: DemoCreator, day: number) {
  const { username, postsByWeekday, wakeHour } = creator;
  const count = day < 0 ? 0 : (postsByWeekday[day % 7] ?? 0);
  const first = countPostsBefore(creator, day);
  const partMs = (AWAKE_HOURS * HOUR_MS) / count;
  return Array.from({ length: count }, (_, part) => {
    const sinceWaking = partMs * (part + draw(hashSeed(username), first + part));
    return {
      sequence: first + part,
      publishedAt: EPOCH + day * DAY_MS + wakeHour * HOUR_MS + Math.floor(sinceWaking),
    };
  });
}

export function countPublished(creator: DemoCreator, instant: number): number {
  const day = Math.floor((instant - EPOCH) / DAY_MS);
  const recent = [...listSlots(creator, day - 1), ...listSlots(creator, day)];
  const published = recent.filter((slot) => slot.publishedAt <= instant).length;
  return countPostsBefore(creator, day - 1) + published;
}

function countPostsBefore({ postsByWeekday }: DemoCreator, day: number): number {
  if (day <= 0) return 0;
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return Math.floor(day / 7) * sum(postsByWeekday) + sum(postsByWeekday.slice(0, day % 7));
}
