/** The histories of channels, shorts, users and tweets. */
import type { HistoryInterval } from "../buckets.ts";
import type { CursorPagination } from "./video.ts";

/** The counts of a channel; `null` if no source reported them. */
export interface ChannelCounts {
  /** Subscribers. */
  subscribers: number | null;
  /** Videos. */
  videoCount: number | null;
  /** Views of all videos. */
  viewCount: number | null;
}

/** The counts of a short. */
export interface ShortCounts {
  /** Views. */
  views: number | null;
  /** Likes. */
  likes: number | null;
  /** Comments. */
  comments: number | null;
  /** Shares. */
  shares: number | null;
}

/** The counts of a user. */
export interface UserCounts {
  /** Followers. */
  followers_count: number | null;
  /** Users that the user follows. */
  following_count: number | null;
  /** Tweets of the user. */
  tweet_count: number | null;
}

/** The counts of a tweet. */
export interface TweetCounts {
  /** Likes. */
  likes: number | null;
  /** Retweets. */
  retweets: number | null;
  /** Replies. */
  replies: number | null;
  /** Quotes. */
  quotes: number | null;
  /** Views of the tweet. */
  impressions: number | null;
}

/** A bucket of a history, with the newest known value of each count. */
export type HistoryItem<Counts> = Counts & {
  /** The start of the bucket; with the interval `raw`, the instant of the observation. */
  timestamp: string;
  /** The newest observation of the bucket. */
  observedAt: string;
  /** Differences from the last known counts before the bucket; `null` if either is unknown. */
  change: Counts;
};

/** A page of a history, oldest first. A bucket without an observation is not listed. */
export interface HistoryPage<Counts> {
  /** How the observations are grouped. */
  interval: HistoryInterval;
  /** The buckets. */
  history: HistoryItem<Counts>[];
  /** How far the listing goes. */
  pagination: CursorPagination;
}

/** The response of `GET /api/video/{channel}/history`. */
export interface ChannelHistory extends HistoryPage<ChannelCounts> {
  /** The channel's username, or its identifier if no source reported a username. */
  channel: string;
}

/** The response of `GET /api/video/{channel}/short/{short_id}/history`. */
export interface ShortHistory extends HistoryPage<ShortCounts> {
  /** The channel's username, or its identifier if no source reported a username. */
  channel: string;
  /** Identifier of the short. */
  short_id: string;
}

/** The response of `GET /api/microblog/{username}/history`. */
export interface UserHistory extends HistoryPage<UserCounts> {
  /** Username without the @ symbol. */
  username: string;
}

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}/history`. */
export interface TweetHistory extends HistoryPage<TweetCounts> {
  /** Username without the @ symbol. */
  username: string;
  /** Identifier of the tweet. */
  tweet_id: string;
}
