/** Generates the users of the demo and their tweets. */
import { formatInstant } from "../../core/time.ts";
import { DEMO_USER, USERS, type DemoUser } from "./creators.ts";
import { draw, drawBetween, hashSeed } from "./random.ts";
import { createCounterFactory, drawReach, computeFollowing } from "./growth-curves.ts";
import {
  toDayNumber,
  FIRST_POST_INTERVALS,
  countPublished,
  listSlots,
  TWEET_INTERVALS,
  type Slot,
  type ObservationInterval,
} from "./posting-schedule.ts";
import { createPostEntity, createProfileEntity, type ObservedEntity } from "./observed-entity.ts";
import { composeText } from "./voices.ts";

const BASE_URL = "https://example.com/microblog";
const FIRST_INTEREST_HOURS = 5;
const DAYS_PER_NEW_FOLLOWING = 9;

/** Lists the users, who are observed every hour. */
export function listUsers(): ObservedEntity[] {
  return USERS.map(createUser);
}

/** Lists the tweets that are published on a day, counted from `EPOCH`. */
export function listTweets(day: number): ObservedEntity[] {
  return USERS.flatMap((user) =>
    listSlots(user.rhythm, hashSeed(user.username), day)
      .filter(({ sequence }) => user.username !== DEMO_USER || sequence > 0)
      .map((slot) => createTweet(user, slot, TWEET_INTERVALS)),
  );
}

/** Lists the first tweet of the demo's user, which is observed every day for good. */
export function listFirstTweets(): ObservedEntity[] {
  return USERS.filter(({ username }) => username === DEMO_USER).flatMap((user) =>
    listSlots(user.rhythm, hashSeed(user.username), 0)
      .slice(0, 1)
      .map((slot) => createTweet(user, slot, FIRST_POST_INTERVALS)),
  );
}

function createUser(user: DemoUser): ObservedEntity {
  const { username, rhythm } = user;
  const seed = hashSeed(username);
  return createProfileEntity(seed, (instant) => ({
    kind: "user",
    observedAt: formatInstant(instant),
    username,
    displayName: user.displayName,
    followers_count: computeFollowing(user.following, user.audience, seed, instant),
    following_count:
      user.followingCount + Math.floor(toDayNumber(instant) / DAYS_PER_NEW_FOLLOWING),
    tweet_count: user.earlierPosts + countPublished(rhythm, seed, instant),
    description: user.description,
    profile_image_url: `${BASE_URL}/${username}/avatar.png`,
    created_at: user.joinedAt,
    verified: user.verified,
  }));
}

function createTweet(
  user: DemoUser,
  { sequence, publishedAt }: Slot,
  intervals: readonly ObservationInterval[],
): ObservedEntity {
  const { username } = user;
  const seed = hashSeed(`${username}/tweet/${sequence}`);
  const id = createTweetId(seed, publishedAt);
  const description = {
    username,
    id,
    text: composeText(user.voice, seed, sequence),
    created_at: formatInstant(publishedAt),
    url: `${BASE_URL}/${username}/tweet/${id}`,
  };
  const count = createTweetCounter(user, seed, publishedAt);
  return createPostEntity(intervals, seed, publishedAt, (instant) => ({
    kind: "tweet",
    observedAt: formatInstant(instant),
    ...description,
    ...count(instant),
  }));
}

/** Creates the counts of a tweet. No count exceeds the impressions. */
function createTweetCounter(
  { audience, typicalReach, hasImpressionCount }: DemoUser,
  seed: number,
  publishedAt: number,
) {
  const counter = createCounterFactory(
    drawReach(seed, typicalReach, FIRST_INTEREST_HOURS),
    audience,
    publishedAt,
  );
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
      ...(hasImpressionCount ? { impressions } : {}),
    };
  };
}

// Milliseconds, then 22 random bits: above 2^53, as real identifiers are, and in the order of
// publication.
const TWEET_ID_EPOCH = Date.UTC(2011, 0, 1);

function createTweetId(seed: number, publishedAt: number): string {
  const randomBits = BigInt(Math.floor(draw(seed, 31) * 2 ** 22));
  return String((BigInt(publishedAt - TWEET_ID_EPOCH) << 22n) | randomBits);
}
