/** Tables of watch lists, targets, quotas and stopped sources. Instants are ms since 1970 UTC. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

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

export const trackedChannels = sqliteTable("tracked_channels", {
  /** The handle in lower case, or the identifier. */
  key: text().primaryKey(),
  channel: text().notNull(),
  addedAt: integer("added_at").notNull(),
});

export const targets = sqliteTable(
  "targets",
  {
    platform: text({ enum: ["video", "microblog"] }).notNull(),
    task: text({ enum: ["profile", "items", "counts"] }).notNull(),
    id: text().notNull(),
    /** For the task `counts`: the `id` of the target of `items` that found it. */
    owner: text(),
    /** A JSON object of texts that the source needs for its requests. */
    sourceState: text("source_state").notNull().default("{}"),
    /** For `counts`, when the item was published; for `items`, when the newest item was. */
    publishedAt: integer("published_at"),
    /** For `items`: how many there are by the newest profile. */
    itemCount: integer("item_count"),
    dueAt: integer("due_at").notNull(),
    succeededAt: integer("succeeded_at"),
    failedAt: integer("failed_at"),
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

/** Used units of the quotas of a source, by quota day. */
export const quotaUse = sqliteTable(
  "quota_use",
  {
    source: text().notNull(),
    bucket: text().notNull(),
    /** Like `2026-11-20`, in the time zone of the bucket. */
    day: text().notNull(),
    units: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.bucket, table.day] })],
);

export const stoppedSources = sqliteTable("stopped_sources", {
  source: text().primaryKey(),
  /** A hash of the settings with which it was stopped. */
  settings: text().notNull(),
  reason: text().notNull(),
  since: integer().notNull(),
  /** NULL means until the settings change. */
  until: integer(),
});
