/**
 * The lines of an import or export. A field that is left out or `null` was not reported. An instant is
 * an ISO 8601 date, or date and time.
 */

/** What a source reported about a channel at an instant. */
export interface ChannelObservation {
  /** What is observed. */
  kind: "channel";
  /** When the source said so, in ISO 8601. */
  observedAt: string;
  /** Identifier on the platform. */
  id: string;
  /** Username without the @ symbol. */
  username?: string | null;
  /** Name for people. */
  displayName?: string | null;
  /** Text about itself. */
  description?: string | null;
  /** Subscribers. */
  subscribers?: number | null;
  /** Videos. */
  videoCount?: number | null;
  /** Views of all videos. */
  viewCount?: number | null;
  /** When the channel was created, in ISO 8601. */
  joinedAt?: string | null;
  /** A short country code. */
  country?: string | null;
  /** URL of the image, as the source reported it. */
  thumbnail?: string | null;
  /** URL of the banner, as the source reported it. */
  bannerImage?: string | null;
}

/** What a source reported about a short at an instant. */
export interface ShortObservation {
  /** What is observed. */
  kind: "short";
  /** When the source said so, in ISO 8601. */
  observedAt: string;
  /** The identifier of the channel. */
  channel: string;
  /** Identifier on the platform. */
  id: string;
  /** Title of the short. */
  title?: string | null;
  /** Text about itself. */
  description?: string | null;
  /** When the short was published, `2026-11-20T08:15:30.123Z`. */
  publishedAt?: string | null;
  /** URL of the image, as the source reported it. */
  thumbnail?: string | null;
  /** Views. */
  views?: number | null;
  /** Likes. */
  likes?: number | null;
  /** Comments. */
  comments?: number | null;
  /** Shares. */
  shares?: number | null;
}

/** What a source reported about a user at an instant. */
export interface UserObservation {
  /** What is observed. */
  kind: "user";
  /** When the source said so, in ISO 8601. */
  observedAt: string;
  /** Username without the @ symbol. */
  username: string;
  /** Name for people. */
  displayName?: string | null;
  /** Followers. */
  followers_count?: number | null;
  /** Users that the user follows. */
  following_count?: number | null;
  /** Tweets of the user. */
  tweet_count?: number | null;
  /** Text about itself. */
  description?: string | null;
  /** URL of the image, as the source reported it. */
  profile_image_url?: string | null;
  /** When it was created, `2026-11-20T08:15:30.123Z`. */
  created_at?: string | null;
  /** Whether the platform has verified the user. */
  verified?: boolean | null;
}

/** What a source reported about a tweet at an instant. */
export interface TweetObservation {
  /** What is observed. */
  kind: "tweet";
  /** When the source said so, in ISO 8601. */
  observedAt: string;
  /** Username without the @ symbol. */
  username: string;
  /** Identifier on the platform. */
  id: string;
  /** Text of the tweet. */
  text?: string | null;
  /** When it was created, `2026-11-20T08:15:30.123Z`. */
  created_at?: string | null;
  /** URL of the tweet, as the source reported it. */
  url?: string | null;
  /** Likes. */
  likes?: number | null;
  /** Retweets. */
  retweets?: number | null;
  /** Replies. */
  replies?: number | null;
  /** Quotes. */
  quotes?: number | null;
  /** Views of the tweet. */
  impressions?: number | null;
}

/** One line of an import or export. */
export type ObservationLine =
  | ChannelObservation
  | ShortObservation
  | UserObservation
  | TweetObservation;
