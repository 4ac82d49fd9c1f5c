/** What the demo's microblog platform shows: users and their tweets. */
import { formatInstant } from "../../core/time.ts";
import type { ObservationLine } from "../../core/schema/observations.ts";
import { USERS, type User } from "./cast.ts";
import { draw, drawBetween, seedOf } from "./chance.ts";
import { audienceHours, drawReach, followingAt, seen } from "./curves.ts";
import { DAY_MS, dayOf, isWatched, publishedBy, slotsOfDay, TWEET_WATCHES } from "./schedule.ts";
import type { Slot } from "./schedule.ts";
import { hourlyMoment, type Subject } from "./subject.ts";
import { compose } from "./voices.ts";

const PLACE = "https://example.com/microblog";
const FAST_HOURS = 5;
const FOLLOWS_ONE_MORE_EVERY_DAYS = 9;

/** Lists the users, observed every hour. */
export function userSubjects(): Subject[] {
  return USERS.map(watchUser);
}

/** Lists the tweets that are published on a day, counted from `EPOCH`. */
export function tweetSubjects(day: number): Subject[] {
  return USERS.flatMap((user) =>
    slotsOfDay(user.rhythm, seedOf(user.username), day).map((slot) => watchTweet(user, slot)),
  );
}

function watchUser(user: User): Subject {
  const { username, rhythm } = user;
  const seed = seedOf(username);
  return {
    momentMs: hourlyMoment(seed),
    lastAt: Infinity,
    isDueAt: () => true,
    observe: (instant): ObservationLine => ({
      kind: "user",
      observedAt: formatInstant(instant),
      username,
      displayName: user.displayName,
      followers_count: followingAt(user.following, user.audience, seed, instant),
      following_count: user.follows + Math.floor(dayOf(instant) / FOLLOWS_ONE_MORE_EVERY_DAYS),
      tweet_count: user.earlierPosts + publishedBy(rhythm, seed, instant),
      description: user.description,
      profile_image_url: `${PLACE}/${username}/avatar.png`,
      created_at: user.since,
      verified: user.verified,
    }),
  };
}

function watchTweet(user: User, { sequence, publishedAt }: Slot): Subject {
  const { username } = user;
  const seed = seedOf(`${username}/tweet/${sequence}`);
  const id = tweetId(seed, publishedAt);
  const described = {
    username,
    id,
    text: compose(user.voice, seed, sequence),
    created_at: formatInstant(publishedAt),
    url: `${PLACE}/${username}/tweet/${id}`,
  };
  const count = tweetCounter(user, seed, publishedAt);
  const stagger = Math.floor(draw(seed, 30) * 24);
  return {
    momentMs: hourlyMoment(seed),
    lastAt: publishedAt + 14 * DAY_MS,
    isDueAt: (instant) => isWatched(TWEET_WATCHES, publishedAt, stagger, instant),
    observe: (instant): ObservationLine => ({
      kind: "tweet",
      observedAt: formatInstant(instant),
      ...described,
      ...count(instant),
    }),
  };
}

/** Makes the function that counts a tweet at an instant: each count rises. */
function tweetCounter(user: User, seed: number, publishedAt: number) {
  const { audience, tellsImpressions } = user;
  const reach = drawReach(seed, user.typicalReach, FAST_HOURS);
  const likesShare = drawBetween(seed, 20, 0.01, 0.05);
  const retweetsShare = likesShare * drawBetween(seed, 21, 0.08, 0.3);
  const repliesShare = likesShare * drawBetween(seed, 22, 0.04, 0.2);
  const quotesShare = retweetsShare * drawBetween(seed, 23, 0.05, 0.25);
  const at = (noise: number, instant: number) =>
    seen(
      reach,
      audienceHours(audience, noise, instant) - audienceHours(audience, noise, publishedAt),
    );
  return (instant: number) => {
    const impressions = Math.floor(at(seed, instant));
    const part = (share: number, noise: number) =>
      Math.min(impressions, Math.floor(share * at(noise, instant)));
    return {
      likes: part(likesShare, seed + 1),
      retweets: part(retweetsShare, seed + 2),
      replies: part(repliesShare, seed + 3),
      quotes: part(quotesShare, seed + 4),
      ...(tellsImpressions ? { impressions } : {}),
    };
  };
}

// Milliseconds above 22 bits of chance: larger than 2^53, as such identifiers are, and in the
// order of publication.
const TWEET_ID_EPOCH = Date.UTC(2011, 0, 1);

function tweetId(seed: number, publishedAt: number): string {
  const chance = BigInt(Math.floor(draw(seed, 31) * 2 ** 22));
  return String((BigInt(publishedAt - TWEET_ID_EPOCH) << 22n) | chance);
}
