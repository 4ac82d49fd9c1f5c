/** The histories of channels, shorts, users and tweets. */
import type { Interval } from "../buckets.ts";
import type { CursorPagination } from "./video.ts";

/** The counts of a channel; `null` if no source reported them. */
export interface ChannelCounts {
  subscribers: number | null;
  videoCount: number | null;
  viewCount: number | null;
}

/** The counts of a short. */
export interface ShortCounts {
  views: number | null;
  likes: number | null;
  comments: number | null;
  shares: number | null;
}

/** The counts of a user. */
export interface UserCounts {
  followers_count: number | null;
  following_count: number | null;
  tweet_count: number | null;
}

/** The counts of a tweet. */
export interface TweetCounts {
  likes: number | null;
  retweets: number | null;
  replies: number | null;
  quotes: number | null;
  impressions: number | null;
}

/** A bucket of a history, with the counts of its newest observation. */
export type HistoryItem<Counts> = Counts & {
  /** The start of the bucket; with the interval `raw`, the instant of the observation. */
  timestamp: string;
  /** The newest observation of the bucket. */
  observedAt: string;
  /** Differences from the last known counts before; `null` if either is unknown. */
  change: Counts;
};

/** A page of a history, oldest first. A bucket without an observation is not listed. */
export interface HistoryPage<Counts> {
  interval: Interval;
  history: HistoryItem<Counts>[];
  pagination: CursorPagination;
}

/** The response of `GET /api/video/{channel}/history`. */
export interface ChannelHistory extends HistoryPage<ChannelCounts> {
  /** The channel's username, or its identifier if no source reported a username. */
  channel: string;
}

/** The response of `GET /api/video/{channel}/short/{short_id}/history`. */
export interface ShortHistory extends HistoryPage<ShortCounts> {
  channel: string;
  short_id: string;
}

/** The response of `GET /api/microblog/{username}/history`. */
export interface UserHistory extends HistoryPage<UserCounts> {
  username: string;
}

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}/history`. */
export interface TweetHistory extends HistoryPage<TweetCounts> {
  username: string;
  tweet_id: string;
}
