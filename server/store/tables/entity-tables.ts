/**
 * The tables. Identifiers are text to the outside and small integers (`key`) inside.
 *
 * An entity's row holds its newest state: every describing field with the instant that it came
 * from (`…_at`), and the counts of its newest observation, so details and listings never read
 * history. The histories themselves lie packed, in tables WITHOUT ROWID, by entity and instant
 * (see history/chunk-codec.ts); generate-migration.ts adds that to their migration.
 *
 * All instants are milliseconds since 1970 UTC.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The columns of a chunk: its first instant, how many points it has, and the points. */
const CHUNK_COLUMNS = {
  start: integer().notNull(),
  size: integer().notNull(),
  points: text().notNull(),
};

/** Channels. A row without `observed_at` only lends its key to shorts that came first. */
export const channels = sqliteTable(
  "channels",
  {
    key: integer().primaryKey(),
    id: text().notNull().unique(),
    observedAt: integer("observed_at"),
    subscribers: integer(),
    videoCount: integer("video_count"),
    viewCount: integer("view_count"),
    username: text(),
    usernameAt: integer("username_at"),
    /** The username in lower case, by which channels are found. */
    usernameFolded: text("username_folded"),
    displayName: text("display_name"),
    displayNameAt: integer("display_name_at"),
    description: text(),
    descriptionAt: integer("description_at"),
    joinedAt: integer("joined_at"),
    joinedAtAt: integer("joined_at_at"),
    country: text(),
    countryAt: integer("country_at"),
    thumbnail: text(),
    thumbnailAt: integer("thumbnail_at"),
    bannerImage: text("banner_image"),
    bannerImageAt: integer("banner_image_at"),
  },
  (table) => [index("channels_username").on(table.usernameFolded)],
);

/** What was counted of channels. */
export const channelHistories = sqliteTable(
  "channel_histories",
  { channel: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.channel, table.start] })],
);

/** Shorts. `channel` is the key of the channel that the newest observation names. */
export const shorts = sqliteTable(
  "shorts",
  {
    key: integer().primaryKey(),
    id: text().notNull().unique(),
    observedAt: integer("observed_at").notNull(),
    channel: integer().notNull(),
    channelAt: integer("channel_at").notNull(),
    views: integer(),
    likes: integer(),
    comments: integer(),
    shares: integer(),
    title: text(),
    titleAt: integer("title_at"),
    description: text(),
    descriptionAt: integer("description_at"),
    publishedAt: integer("published_at"),
    publishedAtAt: integer("published_at_at"),
    thumbnail: text(),
    thumbnailAt: integer("thumbnail_at"),
  },
  (table) => [index("shorts_listing").on(table.channel, table.publishedAt, table.id)],
);

/** What was counted of shorts. */
export const shortHistories = sqliteTable(
  "short_histories",
  { short: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.short, table.start] })],
);

/**
 * Users, by their username in lower case. Without `observed_at` only tweets told of the user, and
 * `username` is the spelling of the newest of them, or NULL where none is theirs any more.
 */
export const users = sqliteTable(
  "users",
  {
    key: integer().primaryKey(),
    id: text().notNull().unique(),
    observedAt: integer("observed_at"),
    followersCount: integer("followers_count"),
    followingCount: integer("following_count"),
    tweetCount: integer("tweet_count"),
    username: text(),
    usernameAt: integer("username_at"),
    displayName: text("display_name"),
    displayNameAt: integer("display_name_at"),
    profileImageUrl: text("profile_image_url"),
    profileImageUrlAt: integer("profile_image_url_at"),
    description: text(),
    descriptionAt: integer("description_at"),
    createdAt: integer("created_at"),
    createdAtAt: integer("created_at_at"),
    verified: integer(),
    verifiedAt: integer("verified_at"),
  },
  (table) => [
    index("users_unnamed")
      .on(table.key)
      .where(sql`${table.username} IS NULL`),
  ],
);

/** What was counted of users. */
export const userHistories = sqliteTable(
  "user_histories",
  { user: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.user, table.start] })],
);

/** Tweets. `user` is the key of the user that `username`, by the newest observation, names. */
export const tweets = sqliteTable(
  "tweets",
  {
    key: integer().primaryKey(),
    id: text().notNull().unique(),
    observedAt: integer("observed_at").notNull(),
    user: integer().notNull(),
    username: text().notNull(),
    usernameAt: integer("username_at").notNull(),
    likes: integer(),
    retweets: integer(),
    replies: integer(),
    quotes: integer(),
    impressions: integer(),
    text: text(),
    textAt: integer("text_at"),
    createdAt: integer("created_at"),
    createdAtAt: integer("created_at_at"),
    url: text(),
    urlAt: integer("url_at"),
  },
  (table) => [index("tweets_listing").on(table.user, table.createdAt, table.id)],
);

/** What was counted of tweets. */
export const tweetHistories = sqliteTable(
  "tweet_histories",
  { tweet: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.tweet, table.start] })],
);

/**
 * The newest changes: which entities each write of observations changed, in order. Who keeps
 * answers asks here which of them have become old.
 */
export const changes = sqliteTable("changes", {
  sequence: integer().primaryKey(),
  /** Tells one write from another. */
  uid: text().notNull(),
  /** JSON array of the cache tags; NULL where there were too many to name. */
  tags: text(),
});
