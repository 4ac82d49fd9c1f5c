/**
 * The tables of what is collected: which channels are tracked, what is observed of whom and when
 * next, what was used of the sources' quotas, and which sources are stopped.
 *
 * All instants are milliseconds since 1970 UTC.
 */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The monitoring list. */
export const creators = sqliteTable(
  "creators",
  {
    platform: text().notNull(),
    /** The username in lower case. */
    creatorFolded: text("creator_folded").notNull(),
    creator: text().notNull(),
    addedAt: integer("added_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.platform, table.creatorFolded] })],
);

/** The channels that are tracked. */
export const trackedChannels = sqliteTable("tracked_channels", {
  /** The handle in lower case, or the identifier. */
  key: text().primaryKey(),
  /** As it was given; its targets are named by it. */
  channel: text().notNull(),
  addedAt: integer("added_at").notNull(),
});

/** What is observed again and again. */
export const targets = sqliteTable(
  "targets",
  {
    platform: text({ enum: ["video", "microblog"] }).notNull(),
    task: text({ enum: ["profile", "items", "counts"] }).notNull(),
    id: text().notNull(),
    /** Of `counts`: the `id` of the target of `items` that it came from. */
    owner: text(),
    /** JSON object of texts. */
    sourceState: text("source_state").notNull().default("{}"),
    /** Of `counts`, the item's; of `items`, that of the newest one. */
    publishedAt: integer("published_at"),
    /** Of `items`: how many there are, as the profile told last. */
    itemCount: integer("item_count"),
    dueAt: integer("due_at").notNull(),
    succeededAt: integer("succeeded_at"),
    failedAt: integer("failed_at"),
    /** The reason of the last failure. */
    failure: text(),
    /** Failures since the last success. */
    failures: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.platform, table.task, table.id] }),
    index("targets_due").on(table.platform, table.task, table.dueAt),
    index("targets_owner")
      .on(table.platform, table.owner)
      .where(sql`${table.owner} IS NOT NULL`),
    index("targets_published")
      .on(table.platform, table.publishedAt)
      .where(sql`${table.publishedAt} IS NOT NULL`),
  ],
);

/** Units of a source's buckets that were used, by quota day. */
export const quotaUse = sqliteTable(
  "quota_use",
  {
    source: text().notNull(),
    bucket: text().notNull(),
    /** As `2026-11-20`, in the zone of the bucket. */
    day: text().notNull(),
    units: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.bucket, table.day] })],
);

/** The sources that are stopped. */
export const stoppedSources = sqliteTable("stopped_sources", {
  source: text().primaryKey(),
  /** A hash of the settings that it was asked with. */
  settings: text().notNull(),
  reason: text().notNull(),
  since: integer().notNull(),
  /** NULL: until the settings change. */
  until: integer(),
});
