/**
 * The kinds of entity that are observed, and the fields of each: what describes it (kept as the
 * newest value, field by field) and what counts it (kept for every instant).
 */

/** The type of a describing field. An identifier is required; the others may be left out. */
export type FieldType = "identifier" | "text" | "link" | "instant" | "boolean";

/** The fields of a kind of entity. */
export interface EntityFields {
  /** The field that tells which entity it is. */
  readonly identity: "id" | "username";
  /** What describes the entity, in the order of the specification. */
  readonly described: Readonly<Record<string, FieldType>>;
  /** What counts it: whole numbers from 0 to 2^53 - 1. */
  readonly counts: readonly string[];
}

/** Every kind, with the names that observations use. */
export const KIND_FIELDS = {
  channel: {
    identity: "id",
    described: {
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
    identity: "id",
    described: {
      channel: "identifier",
      title: "text",
      description: "text",
      publishedAt: "instant",
      thumbnail: "link",
    },
    counts: ["views", "likes", "comments", "shares"],
  },
  user: {
    identity: "username",
    described: {
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
    identity: "id",
    described: {
      username: "identifier",
      created_at: "instant",
      text: "text",
      url: "link",
    },
    counts: ["likes", "retweets", "replies", "quotes", "impressions"],
  },
} as const satisfies Record<string, EntityFields>;

/** The name of a kind. */
export type EntityKind = keyof typeof KIND_FIELDS;

/** The names of all kinds. */
export const ENTITY_KINDS: readonly EntityKind[] = ["channel", "short", "user", "tweet"];
