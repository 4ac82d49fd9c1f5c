/**
 * Generates the demo's observations from the time alone, so that all demos agree, and one goes on
 * after a stop.
 */
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import {
  CHANNELS,
  countPublished,
  DEMO_CHANNEL,
  DEMO_USER,
  EPOCH,
  listSlots,
  USERS,
  type DemoCreator,
} from "./creators.ts";
import { countFollowers, createCounts, toAudienceHours } from "./growth-curves.ts";
import { draw, drawBetween, generateIdentifier, hashSeed } from "./random.ts";

const VIDEO_URL = "https://example.com/video";
const MICROBLOG_URL = "https://example.com/microblog";

/** How long the first wave of interest in a post typically lasts. */
const SHORT_INTEREST_HOURS = 14;
const TWEET_INTEREST_HOURS = 5;

const LIKES_HIDDEN_SHARE = 0.07;

/** Posts of this age are not observed any more, except the posts of `FIRST_POST_INTERVALS`. */
const OBSERVED_AGE_MAX_MS = 30 * DAY_MS;

/** How often an entity is observed while it is younger than `maxAgeMs`, by rising age. */
type Intervals = readonly { readonly maxAgeMs: number; readonly everyHours: number }[];

const PROFILE_INTERVALS: Intervals = [{ maxAgeMs: Infinity, everyHours: 1 }];

/** For the first posts of `DEMO_CHANNEL` and `DEMO_USER`, which documents expect in every demo. */
const FIRST_POST_INTERVALS: Intervals = [{ maxAgeMs: Infinity, everyHours: 24 }];

const SHORT_INTERVALS: Intervals = [
  { maxAgeMs: 2 * DAY_MS, everyHours: 1 },
  { maxAgeMs: 10 * DAY_MS, everyHours: 6 },
  { maxAgeMs: OBSERVED_AGE_MAX_MS, everyHours: 24 },
];

const TWEET_INTERVALS: Intervals = [
  { maxAgeMs: 1.5 * DAY_MS, everyHours: 1 },
  { maxAgeMs: 5 * DAY_MS, everyHours: 6 },
  { maxAgeMs: 14 * DAY_MS, everyHours: 24 },
];

const createProfiles = () => [...CHANNELS.map(createChannel), ...USERS.map(createUser)];

const createPosts = (day: number) => [
  ...CHANNELS.flatMap((channel) =>
    listSlots(channel, day).map((slot) => createShort(channel, slot)),
  ),
  ...USERS.flatMap((user) => listSlots(user, day).map((slot) => createTweet(user, slot))),
];

/** Creates an entity that is observed once in every hour in which it is due. */
function createEntity(
  seed: number,
  publishedAt: number,
  intervals: Intervals,
  observe: (instant: number) => ObservationLine,
) {
  // Spreads the rare observations of old posts over the hours of the day.
  const stagger = Math.floor(draw(seed, 30) * 24);
  return {
    observe,
    // After the start of the hour, by entity, so that a demo has new data every few seconds.
    offsetMs: Math.floor(draw(seed, 40) * HOUR_MS),
    /** From this instant on, the entity is never due. */
    endsAt: publishedAt + (intervals.at(-1)?.maxAgeMs ?? 0),
    isDueAt(instant: number): boolean {
      const age = instant - publishedAt;
      const interval = age < 0 ? undefined : intervals.find(({ maxAgeMs }) => age < maxAgeMs);
      if (interval === undefined) return false;
      return (Math.floor((instant - EPOCH) / HOUR_MS) + stagger) % interval.everyHours === 0;
    },
  };
}

// A channel's long-term views per short, divided by the views of its median short. The mean of the
// lognormal draw, the bursts, and the views of other videos are in it.
const VIEWS_PER_REACH = 2.6;

function createChannel(channel: (typeof CHANNELS)[number]) {
  const { username, displayName, description, joinedAt, country, earlierPosts } = channel;
  const seed = hashSeed(username);
  const viewsPerShort = channel.typicalReach * VIEWS_PER_REACH;
  const postsPerWeek = channel.postsByWeekday.reduce((sum, posts) => sum + posts, 0);
  const viewsPerDay = (postsPerWeek / 7) * viewsPerShort;
  const countSubscribers = (instant: number) => {
    const followers = countFollowers(channel, instant);
    // Platforms show three significant digits of large counts.
    const digits = Math.max(0, String(followers).length - 3);
    const unit = channel.isSubscriberCountRounded ? 10 ** digits : 1;
    return Math.floor(followers / unit) * unit;
  };
  return createEntity(seed, EPOCH, PROFILE_INTERVALS, (instant) => ({
    kind: "channel",
    observedAt: formatInstant(instant),
    id: createChannelId(username),
    username,
    displayName,
    description,
    ...(channel.hasSubscriberCount && { subscribers: countSubscribers(instant) }),
    videoCount: earlierPosts + countPublished(channel, instant),
    viewCount: Math.floor(
      earlierPosts * viewsPerShort + (viewsPerDay * toAudienceHours(channel, seed, instant)) / 24,
    ),
    joinedAt,
    country,
    thumbnail: `${VIDEO_URL}/channels/${username}/avatar.jpg`,
    bannerImage: `${VIDEO_URL}/channels/${username}/banner.jpg`,
  }));
}

const createChannelId = (username: string) => `CH${generateIdentifier(`${username}/channel`, 20)}`;

function createUser(user: (typeof USERS)[number]) {
  const { username, displayName, description, joinedAt, verified } = user;
  return createEntity(hashSeed(username), EPOCH, PROFILE_INTERVALS, (instant) => ({
    kind: "user",
    observedAt: formatInstant(instant),
    username,
    displayName,
    followers_count: countFollowers(user, instant),
    // The user follows a new account every nine days.
    following_count: user.followingCount + Math.floor((instant - EPOCH) / (9 * DAY_MS)),
    tweet_count: user.earlierPosts + countPublished(user, instant),
    description,
    profile_image_url: `${MICROBLOG_URL}/${username}/avatar.png`,
    created_at: joinedAt,
    verified,
  }));
}

type Slot = ReturnType<typeof listSlots>[number];

/** The first post of `DEMO_CHANNEL` and `DEMO_USER` is observed forever. */
const intervalsOf = ({ username }: DemoCreator, { sequence }: Slot, usual: Intervals) =>
  sequence === 0 && (username === DEMO_CHANNEL || username === DEMO_USER)
    ? FIRST_POST_INTERVALS
    : usual;

/** Subjects take turns, so that neighbouring posts differ. */
function composeText({ phrases }: DemoCreator, seed: number, sequence: number): string {
  const { openings, subjects, closings, gap } = phrases;
  const opening = openings[Math.floor(draw(seed, 1) * openings.length)];
  const closing = closings[Math.floor(draw(seed, 2) * closings.length)];
  return `${opening}${gap}${subjects[sequence % subjects.length]}${closing}`;
}

function createShort(channel: (typeof CHANNELS)[number], slot: Slot) {
  const { sequence, publishedAt } = slot;
  const { username, tags } = channel;
  const name = `${username}/short/${sequence}`;
  const seed = hashSeed(name);
  const id = generateIdentifier(name, 11);
  const text = composeText(channel, seed, sequence);
  const isTitleSplit = sequence % (channel.brokenTitleEvery ?? Infinity) === 1;
  const firstTag = sequence % tags.length;
  const rotatedTags = [...tags.slice(firstTag), ...tags.slice(0, firstTag)];
  const description = {
    channel: createChannelId(username),
    id,
    title: isTitleSplit ? `${text}\nPart ${1 + (sequence % 3)} of 3` : text,
    description: `${text}\n\n${rotatedTags.join(" ")}`,
    publishedAt: formatInstant(publishedAt - (publishedAt % 1000)),
    thumbnail: `${VIDEO_URL}/shorts/${id}/cover.jpg`,
  };
  const countAt = createCounts(channel, seed, publishedAt, SHORT_INTEREST_HOURS, {
    likes: draw(seed, 23) < LIKES_HIDDEN_SHARE ? undefined : drawBetween(seed, 20, 0.025, 0.08),
    comments: drawBetween(seed, 21, 0.001, 0.006),
    shares: channel.hasShareCount ? drawBetween(seed, 22, 0.002, 0.012) : undefined,
  });
  const intervals = intervalsOf(channel, slot, SHORT_INTERVALS);
  return createEntity(seed, publishedAt, intervals, (instant) => {
    const { views, counts } = countAt(instant);
    return { kind: "short", observedAt: formatInstant(instant), ...description, views, ...counts };
  });
}

function createTweet(user: (typeof USERS)[number], slot: Slot) {
  const { sequence, publishedAt } = slot;
  const { username } = user;
  const seed = hashSeed(`${username}/tweet/${sequence}`);
  const id = createTweetId(seed, publishedAt);
  const description = {
    username,
    id,
    text: composeText(user, seed, sequence),
    created_at: formatInstant(publishedAt),
    url: `${MICROBLOG_URL}/${username}/tweet/${id}`,
  };
  const likes = drawBetween(seed, 20, 0.01, 0.05);
  const retweets = likes * drawBetween(seed, 21, 0.08, 0.3);
  const countAt = createCounts(user, seed, publishedAt, TWEET_INTEREST_HOURS, {
    likes,
    retweets,
    replies: likes * drawBetween(seed, 22, 0.04, 0.2),
    quotes: retweets * drawBetween(seed, 23, 0.05, 0.25),
  });
  const intervals = intervalsOf(user, slot, TWEET_INTERVALS);
  return createEntity(seed, publishedAt, intervals, (instant) => {
    const { views, counts } = countAt(instant);
    return {
      kind: "tweet",
      observedAt: formatInstant(instant),
      ...description,
      ...counts,
      ...(user.hasImpressionCount && { impressions: views }),
    };
  });
}

/** Creates an id of milliseconds and 22 random bits: above 2^53 like real ids, rising with time. */
function createTweetId(seed: number, publishedAt: number): string {
  const randomBits = BigInt(Math.floor(draw(seed, 31) * 2 ** 22));
  return String((BigInt(publishedAt - Date.UTC(2011, 0, 1)) << 22n) | randomBits);
}

/** A time range in milliseconds since 1970 UTC; `from` is included, `to` is not. */
type ObservationWindow = Readonly<Record<"from" | "to", number>>;

/**
 * Generates the observations that a collector would have made in a window, oldest first. Two
 * adjoining windows give the same observations as one window over both. Nothing is observed before
 * 2024; the end may be in the future.
 */
export function* generateObservations({ from, to }: ObservationWindow): Generator<ObservationLine> {
  const start = Math.max(from, EPOCH);
  // The first day has the posts that are observed forever.
  let entities = [...createProfiles(), ...createPosts(0)];
  // One day more, because a creator's day may end on the next UTC day.
  let nextDay = Math.max(1, Math.floor((start - OBSERVED_AGE_MAX_MS - EPOCH) / DAY_MS) - 1);
  for (let hour = start - (start % HOUR_MS); hour < to; hour += HOUR_MS) {
    for (; nextDay * DAY_MS + EPOCH <= hour; nextDay++) {
      entities = entities.filter(({ endsAt }) => endsAt > hour);
      entities.push(...createPosts(nextDay));
    }
    yield* observeInHour(entities, hour, { from: start, to });
  }
}

/** Generates daily observations of channels and users: a subset of {@link generateObservations}. */
export function* generateDailyProfiles(window: ObservationWindow): Generator<ObservationLine> {
  const from = Math.max(window.from, EPOCH);
  const profiles = createProfiles();
  for (let day = from - (from % DAY_MS); day < window.to; day += DAY_MS) {
    yield* observeInHour(profiles, day, { from, to: window.to });
  }
}

function observeInHour(
  entities: ReturnType<typeof createPosts>,
  hour: number,
  { from, to }: ObservationWindow,
): ObservationLine[] {
  return entities
    .map((entity) => ({ entity, instant: hour + entity.offsetMs }))
    .filter(({ entity, instant }) => instant >= from && instant < to && entity.isDueAt(instant))
    .toSorted((a, b) => a.instant - b.instant)
    .map(({ entity, instant }) => entity.observe(instant));
}
