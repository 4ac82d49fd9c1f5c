/** What the demo's video platform shows: channels and their shorts. */
import { formatInstant } from "../../core/time.ts";
import type { ObservationLine } from "../../core/schema/observations.ts";
import { CHANNELS, DEMO_CHANNEL, type Channel } from "./cast.ts";
import { draw, drawBetween, seedOf, spellIdentifier } from "./chance.ts";
import { audienceHours, countersOf, drawReach, followingAt, roundDown } from "./curves.ts";
import {
  FIRST_POST_WATCHES,
  publishedBy,
  SHORT_WATCHES,
  slotsOfDay,
  sum,
  type Slot,
  type Watch,
} from "./schedule.ts";
import { watchPost, watchProfile, type Subject } from "./subject.ts";
import { compose } from "./voices.ts";

const PLACE = "https://example.com/video";
const FAST_HOURS = 14;
const LIKES_HIDDEN_SHARE = 0.07;

// What all shorts of a channel bring in the long run, for each view of a median one: the mean of
// the lognormal draw, the bursts and the views of other videos.
const VIEWS_PER_REACH = 2.6;

/** Lists the channels, observed every hour. */
export function channelSubjects(): Subject[] {
  return CHANNELS.map(watchChannel);
}

/** Lists the shorts that are published on a day, counted from `EPOCH`. */
export function shortSubjects(day: number): Subject[] {
  return CHANNELS.flatMap((channel) =>
    slotsOfDay(channel.rhythm, seedOf(channel.username), day)
      .filter((slot) => !isFirst(channel, slot))
      .map((slot) => watchShort(channel, slot, SHORT_WATCHES)),
  );
}

/** Lists the first short of the demo's channel, observed every day. */
export function firstShortSubjects(): Subject[] {
  return CHANNELS.flatMap((channel) =>
    slotsOfDay(channel.rhythm, seedOf(channel.username), 0)
      .filter((slot) => isFirst(channel, slot))
      .map((slot) => watchShort(channel, slot, FIRST_POST_WATCHES)),
  );
}

function isFirst({ username }: Channel, { sequence }: Slot): boolean {
  return username === DEMO_CHANNEL && sequence === 0;
}

function watchChannel(channel: Channel): Subject {
  const { username, audience, rhythm, following } = channel;
  const seed = seedOf(username);
  const id = channelId(username);
  const viewsPerShort = channel.typicalReach * VIEWS_PER_REACH;
  const viewsBefore = channel.earlierPosts * viewsPerShort;
  const viewsPerDay = (sum(rhythm.week) / 7) * viewsPerShort;
  return watchProfile(seed, (instant): ObservationLine => {
    const subscribers = followingAt(following, audience, seed, instant);
    const shown = channel.subscribersShown === "rounded" ? roundDown(subscribers) : subscribers;
    const days = audienceHours(audience, seed, instant) / 24;
    return {
      kind: "channel",
      observedAt: formatInstant(instant),
      id,
      username,
      displayName: channel.displayName,
      description: channel.description,
      ...(channel.subscribersShown === "never" ? {} : { subscribers: shown }),
      videoCount: channel.earlierPosts + publishedBy(rhythm, seed, instant),
      viewCount: Math.floor(viewsBefore + viewsPerDay * days),
      joinedAt: channel.since,
      country: channel.country,
      thumbnail: `${PLACE}/channels/${username}/avatar.jpg`,
      bannerImage: `${PLACE}/channels/${username}/banner.jpg`,
    };
  });
}

function watchShort(
  channel: Channel,
  { sequence, publishedAt }: Slot,
  watches: readonly Watch[],
): Subject {
  const name = `${channel.username}/short/${sequence}`;
  const seed = seedOf(name);
  const described = describeShort(channel, name, sequence, publishedAt);
  const count = countShort(channel, seed, publishedAt);
  return watchPost(watches, seed, publishedAt, (instant) => ({
    kind: "short",
    observedAt: formatInstant(instant),
    ...described,
    ...count(instant),
  }));
}

function describeShort(channel: Channel, name: string, sequence: number, publishedAt: number) {
  const seed = seedOf(name);
  const id = spellIdentifier(name, 11);
  const composed = compose(channel.voice, seed, sequence);
  const isBroken = sequence % (channel.brokenTitleEvery ?? Infinity) === 1;
  const firstTag = sequence % channel.tags.length;
  const tags = [...channel.tags.slice(firstTag), ...channel.tags.slice(0, firstTag)];
  return {
    channel: channelId(channel.username),
    id,
    title: isBroken ? `${composed}\nPart ${1 + (sequence % 3)} of 3` : composed,
    description: `${composed}\n\n${tags.join(" ")}`,
    publishedAt: formatInstant(publishedAt - (publishedAt % 1000)),
    thumbnail: `${PLACE}/shorts/${id}/cover.jpg`,
  };
}

/** Makes the function that counts a short at an instant; no count passes its views. */
function countShort({ audience, typicalReach, tellsShares }: Channel, seed: number, at: number) {
  const counter = countersOf(drawReach(seed, typicalReach, FAST_HOURS), audience, at);
  const seen = counter(1, seed);
  const liked = counter(drawBetween(seed, 20, 0.025, 0.08), seed + 1);
  const commented = counter(drawBetween(seed, 21, 0.001, 0.006), seed + 2);
  const shared = counter(drawBetween(seed, 22, 0.002, 0.012), seed + 3);
  const tellsLikes = draw(seed, 23) >= LIKES_HIDDEN_SHARE;
  return (instant: number) => {
    const views = seen(instant);
    return {
      views,
      ...(tellsLikes ? { likes: Math.min(views, liked(instant)) } : {}),
      comments: Math.min(views, commented(instant)),
      ...(tellsShares ? { shares: Math.min(views, shared(instant)) } : {}),
    };
  };
}

function channelId(username: string): string {
  return `CH${spellIdentifier(`${username}/channel`, 20)}`;
}
