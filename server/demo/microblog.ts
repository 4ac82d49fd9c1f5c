/** What the demo's microblog platform shows: users and their tweets. */
import { formatInstant } from "../../core/time.ts";
import { DEMO_USER, USERS, type User } from "./cast.ts";
import { draw, drawBetween, seedOf } from "./chance.ts";
import { countersOf, drawReach, followingAt } from "./curves.ts";
import {
  dayOf,
  FIRST_POST_WATCHES,
  publishedBy,
  slotsOfDay,
  TWEET_WATCHES,
  type Slot,
  type Watch,
} from "./schedule.ts";
import { watchPost, watchProfile, type Subject } from "./subject.ts";
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
    slotsOfDay(user.rhythm, seedOf(user.username), day)
      .filter((slot) => !isFirst(user, slot))
      .map((slot) => watchTweet(user, slot, TWEET_WATCHES)),
  );
}

/** Lists the first tweet of the demo's user, observed every day. */
export function firstTweetSubjects(): Subject[] {
  return USERS.flatMap((user) =>
    slotsOfDay(user.rhythm, seedOf(user.username), 0)
      .filter((slot) => isFirst(user, slot))
      .map((slot) => watchTweet(user, slot, FIRST_POST_WATCHES)),
  );
}

function isFirst({ username }: User, { sequence }: Slot): boolean {
  return username === DEMO_USER && sequence === 0;
}

function watchUser(user: User): Subject {
  const { username, rhythm } = user;
  const seed = seedOf(username);
  return watchProfile(seed, (instant) => ({
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
  }));
}

function watchTweet(
  user: User,
  { sequence, publishedAt }: Slot,
  watches: readonly Watch[],
): Subject {
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
  const count = countTweet(user, seed, publishedAt);
  return watchPost(watches, seed, publishedAt, (instant) => ({
    kind: "tweet",
    observedAt: formatInstant(instant),
    ...described,
    ...count(instant),
  }));
}

/** Makes the function that counts a tweet at an instant; no count passes its impressions. */
function countTweet({ audience, typicalReach, tellsImpressions }: User, seed: number, at: number) {
  const counter = countersOf(drawReach(seed, typicalReach, FAST_HOURS), audience, at);
  const likesShare = drawBetween(seed, 20, 0.01, 0.05);
  const retweetsShare = likesShare * drawBetween(seed, 21, 0.08, 0.3);
  const seen = counter(1, seed);
  const liked = counter(likesShare, seed + 1);
  const retweeted = counter(retweetsShare, seed + 2);
  const replied = counter(likesShare * drawBetween(seed, 22, 0.04, 0.2), seed + 3);
  const quoted = counter(retweetsShare * drawBetween(seed, 23, 0.05, 0.25), seed + 4);
  return (instant: number) => {
    const impressions = seen(instant);
    return {
      likes: Math.min(impressions, liked(instant)),
      retweets: Math.min(impressions, retweeted(instant)),
      replies: Math.min(impressions, replied(instant)),
      quotes: Math.min(impressions, quoted(instant)),
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
