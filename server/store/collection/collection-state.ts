/**
 * The stored state of collecting: targets, which are kept in sync with the watch lists; used
 * quotas; and stopped sources. Each write is one transaction with its conditions in SQL, so it is
 * exact when several services share a database server.
 */
import { and, eq } from "drizzle-orm";
import { MINUTE_MS } from "../../../core/time.ts";
import type { Database, Statement } from "../database/database.ts";
import { quotaUse, stoppedSources } from "../tables/collection-tables.ts";
import { createTargetStore } from "./targets.ts";

const WRITE_OPTIONS = { durability: "configured", idempotent: true } as const;

/** The watch list of each platform: a query of the ids of its `profile` and `items` targets. */
const WATCH_LISTS = [
  {
    platform: "microblog",
    selectIds: "SELECT creator_folded AS id FROM creators WHERE platform = 'microblog'",
  },
  { platform: "video", selectIds: "SELECT channel AS id FROM tracked_channels" },
] as const;

export type CollectionState = ReturnType<typeof createCollectionState>;

export function createCollectionState(database: Database) {
  return {
    /**
     * Makes the targets follow the monitoring list and the tracked channels: adds `profile` and
     * `items` of new entries, due now, and removes all targets of removed entries. Due times that a
     * clock running ahead has set are moved back.
     */
    async syncTargets(now: number) {
      const isOutOfSync = await database.queryJson<0 | 1>(SELECT_IS_OUT_OF_SYNC, [now]);
      if (isOutOfSync === 0) return;
      const statements = WATCH_LISTS.flatMap(({ platform, selectIds }) =>
        createSyncStatements(platform, selectIds, now),
      );
      await database.write(statements, WRITE_OPTIONS);
    },

    ...createTargetStore(database),
    ...createSourceLimits(database),
  };
}

const selectWatchedIdsSql = (platform: string) => `
      SELECT id
      FROM targets
      WHERE platform = '${platform}' AND task = 'items'`;

/** Selects how far ahead the clock was, by `profile` targets: polled often, and due when added. */
const selectClockLeadSql = (platform: string, now: string) => `
    SELECT
      max(max(
        ifnull(succeeded_at, iif(failed_at IS NULL, due_at, 0)),
        ifnull(failed_at, 0)
      )) - ${now} AS ms
    FROM targets
    WHERE platform = ${platform} AND task = 'profile'`;

/** A smaller lead is tolerated: clocks of two services differ, and it delays polls only briefly. */
const CLOCK_LEAD_MIN_MS = 10 * MINUTE_MS;

/**
 * Moves due times back by twice the lead of the clock: once because the clock was ahead, and once
 * because items looked older than they are, so that their intervals became longer. Running it
 * again changes nothing: no instant is then later than now.
 */
const CORRECT_DUE_TIMES = `
  UPDATE targets
  SET
    due_at = due_at - 2 * lead.ms,
    succeeded_at = min(succeeded_at, ?2),
    failed_at = min(failed_at, ?2)
  FROM (${selectClockLeadSql("?1", "?2")}) AS lead
  WHERE platform = ?1 AND lead.ms > ${CLOCK_LEAD_MIN_MS}`;

const SELECT_IS_OUT_OF_SYNC = `
  SELECT json_quote(${WATCH_LISTS.flatMap(({ platform, selectIds }) => [
    `ifnull((${selectClockLeadSql(`'${platform}'`, "?1")}), 0) > ${CLOCK_LEAD_MIN_MS}`,
    `EXISTS (${selectIds} EXCEPT ${selectWatchedIdsSql(platform)})`,
    `EXISTS (${selectWatchedIdsSql(platform)} EXCEPT ${selectIds})`,
  ]).join(" OR ")})`;

function createSyncStatements(platform: string, selectIds: string, now: number): Statement[] {
  const insert = `
    INSERT INTO targets (platform, task, id, due_at)
    SELECT '${platform}', task, id, ?
    FROM (${selectIds})
    CROSS JOIN (SELECT 'profile' AS task UNION ALL SELECT 'items')
    WHERE true
    ON CONFLICT DO NOTHING`;
  const deleteSql = (isOfRemoved: string) => `
    DELETE FROM targets
    WHERE platform = '${platform}' AND ${isOfRemoved}`;
  const isRemoved = `id NOT IN (${selectIds})`;
  return [
    { sql: insert, args: [now] },
    // The owners' own targets come last: the statement before finds the removed owners by them.
    {
      sql: deleteSql(`owner IN (${selectWatchedIdsSql(platform)} AND ${isRemoved})`),
      args: [],
    },
    { sql: deleteSql(`task IN ('profile', 'items') AND ${isRemoved}`), args: [] },
    { sql: CORRECT_DUE_TIMES, args: [platform, now] },
  ];
}

// The first WHERE is for a day without units, the second for a day with units.
const RESERVE_UNITS = `
  INSERT INTO quota_use (source, bucket, day, units)
  SELECT ?1, ?2, ?3, ?4
  WHERE ?4 <= ?5
  ON CONFLICT DO UPDATE SET units = units + excluded.units
  WHERE units + excluded.units <= ?5
  RETURNING units`;

const REPLACE_STOP = `
  INSERT OR REPLACE INTO stopped_sources (source, settings, reason, since, until)
  VALUES (?, ?, ?, ?, ?)`;

/** Quota units to reserve for one day, and the most that may be used that day. */
type QuotaReservation = typeof quotaUse.$inferInsert & { readonly limit: number };

/** Why and until when a source is not polled. */
type SourceStop = Omit<typeof stoppedSources.$inferSelect, "source" | "settings">;

function createSourceLimits(database: Database) {
  return {
    /** Counts units before use, so that a crash loses none. @returns Whether enough were left. */
    async reserveUnits({ source, bucket, day, units, limit }: QuotaReservation) {
      const statement = { sql: RESERVE_UNITS, args: [source, bucket, day, units, limit] };
      const options = { durability: "configured", inline: true } as const;
      const [reserved] = await database.write([statement], options);
      return reserved?.rows.length === 1;
    },

    async readUsedUnits(source: string, bucket: string, day: string) {
      const sql = "SELECT json_quote(units) FROM quota_use WHERE (source, bucket, day) = (?, ?, ?)";
      return (await database.queryJson<number>(sql, [source, bucket, day])) ?? 0;
    },

    /** @param settings A hash of the settings with which the source stopped. */
    async saveStop(source: string, settings: string, { reason, since, until }: SourceStop) {
      const statement = { sql: REPLACE_STOP, args: [source, settings, reason, since, until] };
      await database.write([statement], WRITE_OPTIONS);
    },

    async readStop(source: string, settings: string): Promise<SourceStop | undefined> {
      const { reason, since, until } = stoppedSources;
      const isStop = and(eq(stoppedSources.source, source), eq(stoppedSources.settings, settings));
      const [stop] = await database.query((drizzle) =>
        drizzle.select({ reason, since, until }).from(stoppedSources).where(isStop),
      );
      return stop;
    },

    async clearStop(source: string) {
      const statement = { sql: "DELETE FROM stopped_sources WHERE source = ?", args: [source] };
      await database.write([statement], WRITE_OPTIONS);
    },
  };
}
