/**
 * The kinds of entity that are observed, and the fields of each. Of an attribute the newest value
 * is stored; of a count every value, with the instant of its observation.
 */

/** The type of an attribute. An identifier is required; the others are optional. */
export type FieldType = "identifier" | "text" | "link" | "instant" | "boolean";

/** The fields of a kind. */
export interface EntityFields {
  /** The field that identifies the entity. */
  readonly idField: "id" | "username";
  /** The attributes, in the order of the specification. */
  readonly attributes: Readonly<Record<string, FieldType>>;
  /** The counts: whole numbers from 0 to 2^53 - 1. */
  readonly counts: readonly string[];
}

/** The fields of every kind, by the names that observations use. */
export const ENTITY_FIELDS = {
  channel: {
    idField: "id",
    attributes: {
      username: "text",
      displayName: "text",
      description: "text",
      joinedAt: "instant",
      country: "text",
      thumbnail: "link",
      bannerImage: "link",
    },
    counts: ["subscribers", "videoCount", "viewCount"],
  },
  short: {
    idField: "id",
    attributes: {
      channel: "identifier",
      title: "text",
      description: "text",
      publishedAt: "instant",
      thumbnail: "link",
    },
    counts: ["views", "likes", "comments", "shares"],
  },
  user: {
    idField: "username",
    attributes: {
      username: "identifier",
      displayName: "text",
      profile_image_url: "link",
      description: "text",
      created_at: "instant",
      verified: "boolean",
    },
    counts: ["followers_count", "following_count", "tweet_count"],
  },
  tweet: {
    idField: "id",
    attributes: {
      username: "identifier",
      created_at: "instant",
      text: "text",
      url: "link",
    },
    counts: ["likes", "retweets", "replies", "quotes", "impressions"],
  },
} as const;

/** A kind of entity. */
export type EntityKind = keyof typeof ENTITY_FIELDS;

/** All kinds. */
export const ENTITY_KINDS: readonly EntityKind[] = ["channel", "short", "user", "tweet"];
