/**
 * The tables of entities, their histories and the change log. Entities have text identifiers
 * outside and small integers (`key`) inside. Instants are milliseconds since 1970 UTC.
 *
 * The row of an entity holds its newest state: the counts of its newest observation, and every
 * attribute with the instant that it came from (`…_at`). So details and listings read no history.
 * history/chunk-codec.ts describes the rows of a history.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { listSortedGains } from "../../../core/growth.ts";
import { SEARCH_SUBSTRING_MIN_CHARACTERS } from "../../../core/list-filters.ts";
import { SORT_FIELDS } from "../../../core/list-sorts.ts";
import {
  ENTITY_FIELDS,
  type EntityFields,
  type EntityKind,
  type OwnerKind,
} from "../../../core/kinds.ts";

export const toColumnName = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * The columns of a kind's counts, attributes except identifiers, and those gains by which its lists
 * are sorted: the others follow from the histories, and would make imports slower.
 */
function createFieldColumns(kind: EntityKind) {
  const { attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const columns: Record<string, ReturnType<typeof integer> | ReturnType<typeof text>> = {};
  for (const field of [...counts, ...listSortedGains(kind)]) {
    columns[toColumnName(field)] = integer();
  }
  for (const [field, type] of Object.entries(attributes)) {
    if (type === "identifier") continue;
    const column = toColumnName(field);
    columns[column] = type === "instant" || type === "boolean" ? integer() : text();
    columns[`${column}_at`] = integer();
  }
  return columns;
}

const createIdentityColumns = () => ({
  key: integer().primaryKey(),
  id: text().notNull().unique(),
});

/** The first characters of a text, as SQL: those that short searches can compare. */
const prefixSql = (value: string) => `substr(${value}, 1, ${SEARCH_SUBSTRING_MIN_CHARACTERS - 1})`;

/**
 * The lists of owners: which rows are listed, the column of lower-case usernames, and their first
 * characters, as SQL.
 */
export const OWNER_LISTS = {
  channel: {
    isListed: "observed_at IS NOT NULL",
    usernameColumn: "username_folded",
    usernamePrefix: "username_prefix",
  },
  user: {
    isListed: "username IS NOT NULL",
    usernameColumn: "id",
    usernamePrefix: prefixSql("id"),
  },
} as const;

/** Columns that filters compare. The identifier of a user, which is the username, is in any index. */
const FILTERED_COLUMNS = { channel: ["country", "username_prefix"], user: [] };

/**
 * Creates an index for the field of each sort that the entity table has; `figure-tables.ts` has the
 * others. Only rows that are listed are in it. The columns that filters compare are in it too: so a
 * scan looks up no rows of entities that don't match, and takes an eighth of the time.
 */
function createListIndexes(kind: OwnerKind) {
  const columns = createFieldColumns(kind);
  const fields = Object.values(SORT_FIELDS[kind]).filter((field) => toColumnName(field) in columns);
  return fields.map((field) => {
    const column = toColumnName(field);
    return index(`${kind}s_by_${column}`)
      .on(
        sql`${sql.identifier(column)} DESC`,
        sql`id`,
        ...FILTERED_COLUMNS[kind].map((name) => sql.raw(name)),
      )
      .where(sql.raw(OWNER_LISTS[kind].isListed));
  });
}

/** A channel without `observed_at` was never observed; only shorts refer to it. */
export const channels = sqliteTable(
  "channels",
  {
    ...createIdentityColumns(),
    observed_at: integer(),
    // In lower case, for lookups and searches.
    username_folded: text(),
    username_prefix: text().generatedAlwaysAs(sql.raw(prefixSql("username_folded")), {
      mode: "stored",
    }),
    display_name_folded: text(),
    ...createFieldColumns("channel"),
  },
  (table) => [
    index("channels_username").on(table.username_folded),
    index("channels_country").on(sql`lower(country)`),
    ...createListIndexes("channel"),
  ],
);

/** `channel` is the identifier of the channel, and `channel_key` its key. */
export const shorts = sqliteTable(
  "shorts",
  {
    ...createIdentityColumns(),
    observed_at: integer().notNull(),
    channel_key: integer().notNull(),
    channel: text().notNull(),
    channel_at: integer().notNull(),
    ...createFieldColumns("short"),
    published_at: integer(),
  },
  (table) => [index("shorts_listing").on(table.channel_key, table.published_at, table.id)],
);

/**
 * `id` is the username in lower case. A user without `observed_at` was never observed; only
 * tweets refer to it. Then `username` is spelled as in the newest of these tweets. It is NULL if
 * all of them belong to other users by now.
 */
export const users = sqliteTable(
  "users",
  {
    ...createIdentityColumns(),
    observed_at: integer(),
    username: text(),
    username_at: integer(),
    display_name_folded: text(),
    ...createFieldColumns("user"),
  },
  (table) => [
    ...createListIndexes("user"),
    index("users_unnamed")
      .on(table.key)
      .where(sql`${table.username} IS NULL`),
  ],
);

/** `username` is the name of the user, and `user` the key. */
export const tweets = sqliteTable(
  "tweets",
  {
    ...createIdentityColumns(),
    observed_at: integer().notNull(),
    user: integer().notNull(),
    username: text().notNull(),
    username_at: integer().notNull(),
    ...createFieldColumns("tweet"),
    created_at: integer(),
  },
  (table) => [index("tweets_listing").on(table.user, table.created_at, table.id)],
);

/** A row is a chunk. The column named after the kind is the key of the entity. */
function createHistoryTable(kind: EntityKind) {
  return sqliteTable(
    `${kind}_histories`,
    {
      entity: integer(kind).notNull(),
      start: integer().notNull(),
      size: integer().notNull(),
      points: text().notNull(),
    },
    (table) => [primaryKey({ columns: [table.entity, table.start] })],
  );
}

export const channelHistories = createHistoryTable("channel");
export const shortHistories = createHistoryTable("short");
export const userHistories = createHistoryTable("user");
export const tweetHistories = createHistoryTable("tweet");

/**
 * The change log: the cache tags of the changes of each of the newest writes. A trigger in
 * api-keys.sql adds the changes of keys.
 */
export const changes = sqliteTable(
  "changes",
  {
    sequence: integer().primaryKey(),
    /** Identifies the write. */
    uid: text().notNull(),
    /** A JSON array of cache tags; NULL if there were too many. */
    tags: text(),
    /** The number of the change in the database of the entities, if that is another one. */
    entitiesSequence: integer("entities_sequence"),
  },
  (table) => [
    index("changes_published")
      .on(table.entitiesSequence)
      .where(sql`${table.entitiesSequence} IS NOT NULL`),
  ],
);
