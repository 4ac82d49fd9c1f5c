/** The counts of a world as functions of the instant. */
import { DAY_MS } from "../../../core/time.ts";
import { draw, drawBetween } from "../../../server/demo/random.ts";
import {
  countUntil,
  type WorldChannel,
  type WorldPost,
  type WorldUser,
  type WorldVideo,
} from "./world.ts";

/** Counts by their names in observations; `null` for those that the platform does not have. */
export type WorldCounts = Readonly<Record<string, number | null>>;

/** Returns the counts of a channel, with subscribers rounded to three figures as YouTube does. */
export function countsOfChannel(channel: WorldChannel, now: number) {
  const subscribers = drawAudience(channel, now);
  const figures = 10 ** Math.max(0, String(subscribers).length - 3);
  return {
    subscribers: isHidden(channel, now) ? null : Math.floor(subscribers / figures) * figures,
    videoCount: countUntil(channel.uploads, now),
    viewCount: Math.floor(subscribers * 120 + daysBetween(channel.joinedAt, now) * 5000),
  };
}

/** Returns the counts of a video; YouTube has no shares. */
export function countsOfVideo(video: WorldVideo, now: number) {
  const views = drawViews(video, now);
  return {
    views,
    likes: isHidden(video, now) ? null : Math.floor(views * 0.04),
    comments: isHidden(video, now) ? null : Math.floor(views * 0.002),
    shares: null,
  };
}

/** Returns the counts of a user. */
export function countsOfUser(user: WorldUser, now: number) {
  return {
    followers_count: isHidden(user, now) ? null : drawAudience(user, now),
    following_count: Math.floor(drawBetween(user.seed, 5, 0, 900)),
    tweet_count: countUntil(user.posts, now),
  };
}

/** Returns the counts of a post on X; Bluesky has no impressions. */
export function countsOfPost(post: WorldPost, now: number) {
  const impressions = drawViews(post, now);
  return {
    likes: Math.floor(impressions * 0.03),
    retweets: Math.floor(impressions * 0.004),
    replies: Math.floor(impressions * 0.003),
    quotes: isHidden(post, now) ? null : Math.floor(impressions * 0.0007),
    impressions: isHidden(post, now) ? null : impressions,
  };
}

function isHidden(entity: { readonly hiddenAt: number }, now: number): boolean {
  return now >= entity.hiddenAt;
}

function daysBetween(from: number, now: number): number {
  return Math.max(0, now - from) / DAY_MS;
}

/** An audience that grows, and falls a little on some days. */
function drawAudience(
  owner: { readonly seed: number; readonly joinedAt: number },
  now: number,
): number {
  const days = daysBetween(owner.joinedAt, now);
  const base = 10 ** drawBetween(owner.seed, 1, 2, 6.5);
  const swing = 1 + 0.01 * Math.sin(days * drawBetween(owner.seed, 2, 0.5, 2));
  return Math.floor(base * (1 + days * drawBetween(owner.seed, 3, 0.0005, 0.01)) * swing);
}

/** Rises from 0 to 1, and is 1/2 at 0. */
const logistic = (position: number): number => 1 / (1 + Math.exp(-position));

/** The views of an item: they grow fast at first, then slowly, with sudden jumps. */
function drawViews(
  item: { readonly seed: number; readonly publishedAt: number },
  now: number,
): number {
  const days = daysBetween(item.publishedAt, now);
  const reach = 10 ** drawBetween(item.seed, 3, 2, 5.5);
  const burst = draw(item.seed, 4) < 0.05 ? 20 * logistic((days - 3) * 4) : 0;
  return Math.floor(reach * (1 - Math.exp(-days) + 0.01 * days + burst * (days > 0 ? 1 : 0)));
}
