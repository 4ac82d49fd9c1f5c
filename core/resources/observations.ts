/**
 * The lines of an import or export. A field that is left out or `null` was not reported. An instant is
 * an ISO 8601 date, or date and time.
 */

/** What a source reported about a channel at an instant. */
export interface ChannelObservation {
  kind: "channel";
  observedAt: string;
  id: string;
  username?: string | null;
  displayName?: string | null;
  description?: string | null;
  subscribers?: number | null;
  videoCount?: number | null;
  viewCount?: number | null;
  joinedAt?: string | null;
  country?: string | null;
  thumbnail?: string | null;
  bannerImage?: string | null;
}

/** What a source reported about a short at an instant. */
export interface ShortObservation {
  kind: "short";
  observedAt: string;
  /** The identifier of the channel. */
  channel: string;
  id: string;
  title?: string | null;
  description?: string | null;
  publishedAt?: string | null;
  thumbnail?: string | null;
  views?: number | null;
  likes?: number | null;
  comments?: number | null;
  shares?: number | null;
}

/** What a source reported about a user at an instant. */
export interface UserObservation {
  kind: "user";
  observedAt: string;
  username: string;
  displayName?: string | null;
  followers_count?: number | null;
  following_count?: number | null;
  tweet_count?: number | null;
  description?: string | null;
  profile_image_url?: string | null;
  created_at?: string | null;
  verified?: boolean | null;
}

/** What a source reported about a tweet at an instant. */
export interface TweetObservation {
  kind: "tweet";
  observedAt: string;
  username: string;
  id: string;
  text?: string | null;
  created_at?: string | null;
  url?: string | null;
  likes?: number | null;
  retweets?: number | null;
  replies?: number | null;
  quotes?: number | null;
  impressions?: number | null;
}

/** One line of an import or export. */
export type ObservationLine =
  | ChannelObservation
  | ShortObservation
  | UserObservation
  | TweetObservation;
