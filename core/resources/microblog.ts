/** The resources of `/api/microblog`. */
import type { CursorPagination } from "./video.ts";

/** The place of a numbered page in its listing. */
export interface Pagination {
  /** From 0. */
  page: number;
  /** The most items of a page. */
  limit: number;
  /** Items that the days filter selects. */
  total: number;
  /** Pages of the listing. */
  page_count: number;
  /** Whether a page follows. */
  has_more: boolean;
}

/** A user in the list of users. Counts are `null` if no source reported them. */
export interface UserSummary {
  /** Username without the @ symbol. */
  username: string;
  /** Name for people. */
  displayName: string | null;
  /** Followers. */
  followers_count: number | null;
  /** Users that the user follows. */
  following_count: number | null;
  /** Tweets of the user. */
  tweet_count: number | null;
  /** A URL, as the source reported it. */
  profile_image_url: string | null;
  /** Whether the platform has verified the user. */
  verified: boolean | null;
}

/** The response of `GET /api/microblog/{username}/details`. */
export interface UserDetails extends UserSummary {
  /** Text about itself. */
  description: string | null;
  /** An instant, `2026-11-20T08:15:30.123Z`. */
  created_at: string | null;
}

/** A user in a page of users: a summary, and the figure that the page is sorted by. */
export interface ListedUser extends UserSummary {
  /** Gains of followers over 1, 7 and 30 days; a loss is negative. */
  dailyGain?: number | null;
  /** Over 7 days. */
  weeklyGain?: number | null;
  /** Over 30 days. */
  monthlyGain?: number | null;
}

/** The response of `GET /api/microblog/users`. */
export interface UserList {
  /** The users of the page. */
  users: ListedUser[];
  /** How far the listing goes. */
  pagination: CursorPagination;
}

/** A tweet in a page of tweets. */
export interface TweetRecord {
  /** When it was created, `2026-11-20T08:15:30.123Z`. */
  created_at: string;
  /** Oldest first. */
  metrics: {
    likes: number | null;
    replies: number | null;
    retweets: number | null;
    views: number | null;
    /** UTC, without a zone suffix: `2026-11-20T08:15:30.123`. */
    timestamp: string;
  }[];
  /** Text of the tweet. */
  text: string | null;
  /** When the tweet was last observed. */
  timestamp: string;
  /** URL of the tweet, as the source reported it. */
  url: string | null;
}

/**
 * The response of `GET /api/microblog/{username}/tweets`, newest first. JavaScript lists identifiers
 * that are whole numbers below 2^32 - 1 before all others, in ascending order.
 */
export interface TweetsPage {
  /** Username without the @ symbol. */
  username: string;
  /** By tweet identifier. */
  tweets: Record<string, TweetRecord>;
  /** The days filter applied. */
  filter_days: number;
  /** How far the listing goes. */
  pagination: Pagination;
}

/** The response of `GET /api/microblog/{username}/followers`, newest first. */
export interface FollowersPage {
  /** Username without the @ symbol. */
  username: string;
  /** The follower counts of the page. */
  followers: {
    USER: {
      metrics: {
        followers: number;
        /** Difference from the count before; 0 for the first. */
        change: number;
        timestamp: string;
      }[];
    };
  };
  /** The days filter applied. */
  filter_days: number;
  /** How far the listing goes. */
  pagination: Pagination;
}

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}`. */
export interface TweetDetails {
  /** Username without the @ symbol. */
  username: string;
  /** Identifier of the tweet. */
  tweet_id: string;
  /** The tweet. */
  tweet: {
    id: string;
    text: string | null;
    created_at: string;
    metrics: {
      impressions: number | null;
      likes: number | null;
      retweets: number | null;
      replies: number | null;
      quotes: number | null;
    };
    /** Oldest first. */
    history: {
      timestamp: string;
      impressions: number | null;
      likes: number | null;
      retweets: number | null;
    }[];
  };
}
