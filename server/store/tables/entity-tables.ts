/**
 * The tables of entities, their histories and the change log. Entities have text identifiers outside
 * and small integers (`key`) inside. Instants are milliseconds since 1970 UTC.
 *
 * The row of an entity holds its newest state: every attribute with the instant that it came from
 * (`…_at`), and the counts of its newest observation. So details and listings read no history.
 * history/chunk-codec.ts describes the rows of a history.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The columns of a chunk: its first instant, its number of points, and the encoded points. */
const CHUNK_COLUMNS = {
  start: integer().notNull(),
  size: integer().notNull(),
  points: text().notNull(),
};

/** Channels. One without `observed_at` was never observed; only shorts refer to it. */
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
    /** The username in lower case, for lookups. */
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

/** The histories of channels. */
export const channelHistories = sqliteTable(
  "channel_histories",
  { channel: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.channel, table.start] })],
);

/** Shorts. `channel` is the key of the channel in the newest observation. */
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

/** The histories of shorts. */
export const shortHistories = sqliteTable(
  "short_histories",
  { short: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.short, table.start] })],
);

/**
 * Users. `id` is the username in lower case. One without `observed_at` was never observed; only
 * tweets refer to it. Then `username` is spelled as in the newest of them, or NULL if all of them
 * belong to other users by now.
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

/** The histories of users. */
export const userHistories = sqliteTable(
  "user_histories",
  { user: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.user, table.start] })],
);

/** Tweets. `user` is the key of the user that `username` names. */
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

/** The histories of tweets. */
export const tweetHistories = sqliteTable(
  "tweet_histories",
  { tweet: integer().notNull(), ...CHUNK_COLUMNS },
  (table) => [primaryKey({ columns: [table.tweet, table.start] })],
);

/** The change log: the cache tags of what each of the newest writes changed. */
export const changes = sqliteTable("changes", {
  sequence: integer().primaryKey(),
  /** Identifies the write. */
  uid: text().notNull(),
  /** A JSON array of cache tags; NULL if there were too many. */
  tags: text(),
});
