/** Generates the users of the demo and their tweets. */
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { composeText, DEMO_USER, type DemoUser } from "./creators.ts";
import { countFollowers, createCounterFactory } from "./growth-curves.ts";
import {
  createObservedEntity,
  FIRST_POST_INTERVALS,
  PROFILE_INTERVALS,
  type ObservedEntity,
} from "./observed-entity.ts";
import { countPublished, EPOCH, toDayNumber, type Slot } from "./posting-schedule.ts";
import { draw, drawBetween, hashSeed } from "./random.ts";

const BASE_URL = "https://example.com/microblog";
const FIRST_INTEREST_HOURS = 5;
const DAYS_PER_NEW_FOLLOWING = 9;

const TWEET_INTERVALS = [
  { maxAgeMs: 1.5 * DAY_MS, everyHours: 1 },
  { maxAgeMs: 5 * DAY_MS, everyHours: 6 },
  { maxAgeMs: 14 * DAY_MS, everyHours: 24 },
];

export function createUser(user: DemoUser): ObservedEntity {
  const { username } = user;
  return createObservedEntity(hashSeed(username), EPOCH, PROFILE_INTERVALS, (instant) => ({
    kind: "user",
    observedAt: formatInstant(instant),
    username,
    displayName: user.displayName,
    followers_count: countFollowers(user, instant),
    following_count:
      user.followingCount + Math.floor(toDayNumber(instant) / DAYS_PER_NEW_FOLLOWING),
    tweet_count: user.earlierPosts + countPublished(user, instant),
    description: user.description,
    profile_image_url: `${BASE_URL}/${username}/avatar.png`,
    created_at: user.joinedAt,
    verified: user.verified,
  }));
}

export function createTweet(user: DemoUser, { sequence, publishedAt }: Slot): ObservedEntity {
  const { username } = user;
  const seed = hashSeed(`${username}/tweet/${sequence}`);
  const id = createTweetId(seed, publishedAt);
  const description = {
    username,
    id,
    text: composeText(user.phrases, seed, sequence),
    created_at: formatInstant(publishedAt),
    url: `${BASE_URL}/${username}/tweet/${id}`,
  };
  const isPermanent = username === DEMO_USER && sequence === 0;
  const intervals = isPermanent ? FIRST_POST_INTERVALS : TWEET_INTERVALS;
  const countAt = createTweetCounter(user, seed, publishedAt);
  return createObservedEntity(seed, publishedAt, intervals, (instant) => ({
    kind: "tweet",
    observedAt: formatInstant(instant),
    ...description,
    ...countAt(instant),
  }));
}

/** Creates the counts of a tweet. No count exceeds the impressions. */
function createTweetCounter(user: DemoUser, seed: number, publishedAt: number) {
  const counter = createCounterFactory(user, seed, publishedAt, FIRST_INTEREST_HOURS);
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
      ...(user.hasImpressionCount ? { impressions } : {}),
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
