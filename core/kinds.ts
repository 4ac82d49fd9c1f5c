/** Declares the kinds of entities: attributes, counts, sorts, gains. All else derives from this. */

/** The type of an attribute. An identifier is required; the others are optional. */
export type FieldType = "identifier" | "text" | "link" | "instant" | "boolean";

/** The fields of a kind, by the names that observations use. */
export interface KindDeclaration {
  /** The field that identifies the entity. */
  readonly idField: "id" | "username";
  /** The owner of an item: its kind, and the attribute of the item that names it. */
  readonly owner?: { readonly kind: "channel" | "user"; readonly field: string };
  /** The attributes, in the order of the specification. Only their newest values are stored. */
  readonly attributes: Readonly<Record<string, FieldType>>;
  /**
   * The counts, whose observed values are all stored: whole numbers from 0 to 2^53 - 1. The number
   * given here, from 0 to 29, identifies a count in stored histories. Numbers ascend and never
   * change: a new count comes last, with a number that no count ever had.
   */
  readonly counts: Readonly<Record<string, number>>;
  /** The sorts of lists: the count of each, by the name of the sort. The first is the default. */
  readonly sorts?: Readonly<Record<string, string>>;
  /**
   * The counts with gains, by the ending of gains' names: `SubscriberGain` for `dailySubscriberGain`
   * and others, which the specification names.
   */
  readonly gains?: Readonly<Record<string, string>>;
  /** The endings of the gains that lists can be sorted by: each of them has an index. */
  readonly sortedGains?: readonly string[];
}

/** The declaration of every kind, a {@link KindDeclaration}. */
export const KINDS = {
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
    counts: { subscribers: 0, videoCount: 1, viewCount: 2 },
    sorts: { subscribers: "subscribers", views: "viewCount", videos: "videoCount" },
    gains: { SubscriberGain: "subscribers", ViewGain: "viewCount", VideoGain: "videoCount" },
    sortedGains: ["SubscriberGain", "ViewGain"],
  },
  short: {
    idField: "id",
    owner: { kind: "channel", field: "channel" },
    attributes: {
      channel: "identifier",
      title: "text",
      description: "text",
      publishedAt: "instant",
      thumbnail: "link",
    },
    counts: { views: 0, likes: 1, comments: 2, shares: 3 },
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
    counts: { followers_count: 0, following_count: 1, tweet_count: 2 },
    sorts: { followers: "followers_count" },
    gains: {
      FollowerGain: "followers_count",
      FollowingGain: "following_count",
      TweetGain: "tweet_count",
    },
    sortedGains: ["FollowerGain"],
  },
  tweet: {
    idField: "id",
    owner: { kind: "user", field: "username" },
    attributes: {
      username: "identifier",
      created_at: "instant",
      text: "text",
      url: "link",
    },
    counts: { likes: 0, retweets: 1, replies: 2, quotes: 3, impressions: 4 },
  },
} as const;

/** A kind of entity. */
export type EntityKind = keyof typeof KINDS;

/** A kind whose entities belong to owners. */
export type ItemKind = "short" | "tweet";

/** A kind whose entities own items. */
export type OwnerKind = (typeof KINDS)[ItemKind]["owner"]["kind"];

/** The names of all kinds. */
export const ENTITY_KINDS: readonly EntityKind[] = ["channel", "short", "user", "tweet"];

/** Creates a value for each kind. */
export function mapKinds<Value>(create: (kind: EntityKind) => Value): Record<EntityKind, Value> {
  return {
    channel: create("channel"),
    short: create("short"),
    user: create("user"),
    tweet: create("tweet"),
  };
}

/** The names of the counts of a kind. */
export type CountName<Kind extends EntityKind> = {
  [Name in EntityKind]: keyof (typeof KINDS)[Name]["counts"] & string;
}[Kind];

/** The counts of a kind, by name; `null` is unknown. */
export type EntityCounts<Kind extends EntityKind> = Record<CountName<Kind>, number | null>;

/** The count that each kind is known for: trends, rates and comparisons use it. */
export const MAIN_COUNTS = {
  channel: "subscribers",
  short: "views",
  user: "followers_count",
  tweet: "impressions",
} as const;

/** The attribute with the link of the picture, of each kind that has one. */
export const PICTURE_FIELDS = {
  channel: "thumbnail",
  short: "thumbnail",
  user: "profile_image_url",
} as const;

/** A kind whose entities can have a picture. */
export type PicturedKind = keyof typeof PICTURE_FIELDS;

/** The fields of a kind. */
export interface EntityFields extends Pick<KindDeclaration, "idField" | "owner" | "attributes"> {
  /** The names of the counts, in the order of their numbers. */
  readonly counts: readonly string[];
}

/** The fields of every kind, with the counts as a list of names. */
export const ENTITY_FIELDS: {
  readonly [Kind in EntityKind]: Omit<(typeof KINDS)[Kind], "counts"> & {
    readonly counts: readonly [CountName<Kind>, ...CountName<Kind>[]];
  };
} = {
  channel: { ...KINDS.channel, counts: listCountNames("channel") },
  short: { ...KINDS.short, counts: listCountNames("short") },
  user: { ...KINDS.user, counts: listCountNames("user") },
  tweet: { ...KINDS.tweet, counts: listCountNames("tweet") },
};

function listCountNames<Kind extends EntityKind>(kind: Kind) {
  // The type of `Object.keys()` has neither the names nor that there is at least one.
  return Object.keys(KINDS[kind].counts) as [CountName<Kind>, ...CountName<Kind>[]];
}

/** The index of the main count of each kind among its counts. */
export const MAIN_COUNT_INDEXES: Readonly<Record<EntityKind, number>> = /* @__PURE__ */ mapKinds(
  (kind) => {
    const names: readonly string[] = ENTITY_FIELDS[kind].counts;
    return names.indexOf(MAIN_COUNTS[kind]);
  },
);
