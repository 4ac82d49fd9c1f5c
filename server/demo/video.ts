/** Generates the channels of the demo and their shorts. */
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { composeText, DEMO_CHANNEL, type DemoChannel } from "./creators.ts";
import { countFollowers, createCounterFactory, toAudienceHours } from "./growth-curves.ts";
import {
  createObservedEntity,
  FIRST_POST_INTERVALS,
  OBSERVED_AGE_MAX_MS,
  PROFILE_INTERVALS,
  type ObservedEntity,
} from "./observed-entity.ts";
import { countPostsBefore, countPublished, EPOCH, type Slot } from "./posting-schedule.ts";
import { draw, drawBetween, generateIdentifier, hashSeed } from "./random.ts";

const BASE_URL = "https://example.com/video";
const FIRST_INTEREST_HOURS = 14;
const LIKES_HIDDEN_SHARE = 0.07;

// The long-term views of a channel for each view of its median short: the mean of the lognormal
// draw, the bursts, and the views of other videos.
const VIEWS_PER_REACH = 2.6;

const SHORT_INTERVALS = [
  { maxAgeMs: 2 * DAY_MS, everyHours: 1 },
  { maxAgeMs: 10 * DAY_MS, everyHours: 6 },
  { maxAgeMs: OBSERVED_AGE_MAX_MS, everyHours: 24 },
];

export function createChannel(channel: DemoChannel): ObservedEntity {
  const { username } = channel;
  const seed = hashSeed(username);
  const id = createChannelId(username);
  const viewsPerShort = channel.typicalReach * VIEWS_PER_REACH;
  const viewsBefore = channel.earlierPosts * viewsPerShort;
  const viewsPerDay = (countPostsBefore(channel, 7) / 7) * viewsPerShort;
  return createObservedEntity(seed, EPOCH, PROFILE_INTERVALS, (instant) => {
    const followers = countFollowers(channel, instant);
    const subscribers = channel.isSubscriberCountRounded
      ? roundDownToThreeDigits(followers)
      : followers;
    const days = toAudienceHours(channel, seed, instant) / 24;
    return {
      kind: "channel",
      observedAt: formatInstant(instant),
      id,
      username,
      displayName: channel.displayName,
      description: channel.description,
      ...(channel.hasSubscriberCount ? { subscribers } : {}),
      videoCount: channel.earlierPosts + countPublished(channel, instant),
      viewCount: Math.floor(viewsBefore + viewsPerDay * days),
      joinedAt: channel.joinedAt,
      country: channel.country,
      thumbnail: `${BASE_URL}/channels/${username}/avatar.jpg`,
      bannerImage: `${BASE_URL}/channels/${username}/banner.jpg`,
    };
  });
}

export function createShort(channel: DemoChannel, { sequence, publishedAt }: Slot): ObservedEntity {
  const { username, tags } = channel;
  const name = `${username}/short/${sequence}`;
  const seed = hashSeed(name);
  const id = generateIdentifier(name, 11);
  const text = composeText(channel.phrases, seed, sequence);
  const isTitleSplit = sequence % (channel.brokenTitleEvery ?? Infinity) === 1;
  const firstTag = sequence % tags.length;
  const rotatedTags = [...tags.slice(firstTag), ...tags.slice(0, firstTag)];
  const description = {
    channel: createChannelId(username),
    id,
    title: isTitleSplit ? `${text}\nPart ${1 + (sequence % 3)} of 3` : text,
    description: `${text}\n\n${rotatedTags.join(" ")}`,
    publishedAt: formatInstant(publishedAt - (publishedAt % 1000)),
    thumbnail: `${BASE_URL}/shorts/${id}/cover.jpg`,
  };
  const isPermanent = username === DEMO_CHANNEL && sequence === 0;
  const intervals = isPermanent ? FIRST_POST_INTERVALS : SHORT_INTERVALS;
  const countAt = createShortCounter(channel, seed, publishedAt);
  return createObservedEntity(seed, publishedAt, intervals, (instant) => ({
    kind: "short",
    observedAt: formatInstant(instant),
    ...description,
    ...countAt(instant),
  }));
}

/** Creates the counts of a short. No count exceeds the views. */
function createShortCounter(channel: DemoChannel, seed: number, publishedAt: number) {
  const counter = createCounterFactory(channel, seed, publishedAt, FIRST_INTEREST_HOURS);
  const seen = counter(1, seed);
  const liked = counter(drawBetween(seed, 20, 0.025, 0.08), seed + 1);
  const commented = counter(drawBetween(seed, 21, 0.001, 0.006), seed + 2);
  const shared = counter(drawBetween(seed, 22, 0.002, 0.012), seed + 3);
  const hasLikeCount = draw(seed, 23) >= LIKES_HIDDEN_SHARE;
  return (instant: number) => {
    const views = seen(instant);
    return {
      views,
      ...(hasLikeCount ? { likes: Math.min(views, liked(instant)) } : {}),
      comments: Math.min(views, commented(instant)),
      ...(channel.hasShareCount ? { shares: Math.min(views, shared(instant)) } : {}),
    };
  };
}

function createChannelId(username: string): string {
  return `CH${generateIdentifier(`${username}/channel`, 20)}`;
}

/** Rounds a count down to three significant digits, as platforms show large ones. */
function roundDownToThreeDigits(count: number): number {
  const unit = 10 ** Math.max(0, String(count).length - 3);
  return Math.floor(count / unit) * unit;
}
