/** The resources of `/api/microblog`. */
import type { CursorPagination } from "./video.ts";

/** The place of a numbered page in its listing. */
export interface Pagination {
  /** From 0. */
  page: number;
  limit: number;
  /** Items that the days filter selects. */
  total: number;
  page_count: number;
  has_more: boolean;
}

/** A user in the list of users. Counts are `null` if no source reported them. */
export interface UserSummary {
  username: string;
  displayName: string | null;
  followers_count: number | null;
  following_count: number | null;
  tweet_count: number | null;
  /** A URL, as the source reported it. */
  profile_image_url: string | null;
  verified: boolean | null;
}

/** The response of `GET /api/microblog/{username}/details`. */
export interface UserDetails extends UserSummary {
  description: string | null;
  /** An instant, `2026-11-20T08:15:30.123Z`. */
  created_at: string | null;
}

/** A user in a page of users: a summary, and the figure that the page is sorted by. */
export interface ListedUser extends UserSummary {
  /** Gains of followers over 1, 7 and 30 days; a loss is negative. */
  dailyGain?: number | null;
  weeklyGain?: number | null;
  monthlyGain?: number | null;
}

/** The response of `GET /api/microblog/users`. */
export interface UserList {
  users: ListedUser[];
  pagination: CursorPagination;
}

/** A tweet in a page of tweets. */
export interface TweetRecord {
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
  text: string | null;
  /** When the tweet was last observed. */
  timestamp: string;
  url: string | null;
}

/** The response of `GET /api/microblog/{username}/tweets`, newest first. */
export interface TweetsPage {
  username: string;
  /** By tweet identifier. */
  tweets: Record<string, TweetRecord>;
  /** The days filter applied. */
  filter_days: number;
  pagination: Pagination;
}

/** The response of `GET /api/microblog/{username}/followers`, newest first. */
export interface FollowersPage {
  username: string;
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
  filter_days: number;
  pagination: Pagination;
}

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}`. */
export interface TweetDetails {
  username: string;
  tweet_id: string;
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
