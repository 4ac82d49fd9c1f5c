/** Generates the channels of the demo and their shorts. */
import { formatInstant } from "../../core/time.ts";
import type { ObservationLine } from "../../core/schema/observations.ts";
import { CHANNELS, DEMO_CHANNEL, type DemoChannel } from "./creators.ts";
import { draw, drawBetween, hashSeed, generateIdentifier } from "./random.ts";
import {
  toAudienceHours,
  createCounterFactory,
  drawReach,
  computeFollowing,
  roundDownToThreeDigits,
} from "./growth-curves.ts";
import {
  FIRST_POST_INTERVALS,
  countPublished,
  SHORT_INTERVALS,
  listSlots,
  sum,
  type Slot,
  type ObservationInterval,
} from "./posting-schedule.ts";
import { createPostEntity, createProfileEntity, type ObservedEntity } from "./observed-entity.ts";
import { composeText } from "./voices.ts";

const BASE_URL = "https://example.com/video";
const FIRST_INTEREST_HOURS = 14;
const LIKES_HIDDEN_SHARE = 0.07;

// The long-term views of a channel for each view of its median short: the mean of the lognormal
// draw, the bursts, and the views of other videos.
const VIEWS_PER_REACH = 2.6;

/** Lists the channels, which are observed every hour. */
export function listChannels(): ObservedEntity[] {
  return CHANNELS.map(createChannel);
}

/** Lists the shorts that are published on a day, counted from `EPOCH`. */
export function listShorts(day: number): ObservedEntity[] {
  return CHANNELS.flatMap((channel) =>
    listSlots(channel.rhythm, hashSeed(channel.username), day)
      .filter(({ sequence }) => channel.username !== DEMO_CHANNEL || sequence > 0)
      .map((slot) => createShort(channel, slot, SHORT_INTERVALS)),
  );
}

/** Lists the first short of the demo's channel, which is observed every day for good. */
export function listFirstShorts(): ObservedEntity[] {
  return CHANNELS.filter(({ username }) => username === DEMO_CHANNEL).flatMap((channel) =>
    listSlots(channel.rhythm, hashSeed(channel.username), 0)
      .slice(0, 1)
      .map((slot) => createShort(channel, slot, FIRST_POST_INTERVALS)),
  );
}

function createChannel(channel: DemoChannel): ObservedEntity {
  const { username, audience, rhythm, following } = channel;
  const seed = hashSeed(username);
  const id = createChannelId(username);
  const viewsPerShort = channel.typicalReach * VIEWS_PER_REACH;
  const viewsBefore = channel.earlierPosts * viewsPerShort;
  const viewsPerDay = (sum(rhythm.week) / 7) * viewsPerShort;
  return createProfileEntity(seed, (instant): ObservationLine => {
    const subscribers = computeFollowing(following, audience, seed, instant);
    const shown =
      channel.subscribersShown === "rounded" ? roundDownToThreeDigits(subscribers) : subscribers;
    const days = toAudienceHours(audience, seed, instant) / 24;
    return {
      kind: "channel",
      observedAt: formatInstant(instant),
      id,
      username,
      displayName: channel.displayName,
      description: channel.description,
      ...(channel.subscribersShown === "never" ? {} : { subscribers: shown }),
      videoCount: channel.earlierPosts + countPublished(rhythm, seed, instant),
      viewCount: Math.floor(viewsBefore + viewsPerDay * days),
      joinedAt: channel.joinedAt,
      country: channel.country,
      thumbnail: `${BASE_URL}/channels/${username}/avatar.jpg`,
      bannerImage: `${BASE_URL}/channels/${username}/banner.jpg`,
    };
  });
}

function createShort(
  channel: DemoChannel,
  { sequence, publishedAt }: Slot,
  intervals: readonly ObservationInterval[],
): ObservedEntity {
  const name = `${channel.username}/short/${sequence}`;
  const seed = hashSeed(name);
  const description = describeShort(channel, name, sequence, publishedAt);
  const count = createShortCounter(channel, seed, publishedAt);
  return createPostEntity(intervals, seed, publishedAt, (instant) => ({
    kind: "short",
    observedAt: formatInstant(instant),
    ...description,
    ...count(instant),
  }));
}

function describeShort(channel: DemoChannel, name: string, sequence: number, publishedAt: number) {
  const seed = hashSeed(name);
  const id = generateIdentifier(name, 11);
  const composed = composeText(channel.voice, seed, sequence);
  const isTitleSplit = sequence % (channel.brokenTitleEvery ?? Infinity) === 1;
  const firstTag = sequence % channel.tags.length;
  const tags = [...channel.tags.slice(firstTag), ...channel.tags.slice(0, firstTag)];
  return {
    channel: createChannelId(channel.username),
    id,
    title: isTitleSplit ? `${composed}\nPart ${1 + (sequence % 3)} of 3` : composed,
    description: `${composed}\n\n${tags.join(" ")}`,
    publishedAt: formatInstant(publishedAt - (publishedAt % 1000)),
    thumbnail: `${BASE_URL}/shorts/${id}/cover.jpg`,
  };
}

/** Creates the counts of a short. No count exceeds the views. */
function createShortCounter(
  { audience, typicalReach, hasShareCount }: DemoChannel,
  seed: number,
  publishedAt: number,
) {
  const counter = createCounterFactory(
    drawReach(seed, typicalReach, FIRST_INTEREST_HOURS),
    audience,
    publishedAt,
  );
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
      ...(hasShareCount ? { shares: Math.min(views, shared(instant)) } : {}),
    };
  };
}

function createChannelId(username: string): string {
  return `CH${generateIdentifier(`${username}/channel`, 20)}`;
}
