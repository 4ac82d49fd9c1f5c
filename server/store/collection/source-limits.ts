/** Stores the used quota of sources, and which sources are stopped. */
import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import { quotaUse, stoppedSources } from "../tables/collection-tables.ts";

const WRITE_OPTIONS = { durability: "configured", idempotent: true } as const;

// The first WHERE is of a new day, the second of one that has units.
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
type StoppedSource = Omit<typeof stoppedSources.$inferSelect, "source" | "settings">;

export function createSourceLimits(database: Database) {
  return {
    /**
     * Counts units of a quota day before they are used, so that the count survives a crash.
     *
     * @returns Whether the day has them left; otherwise nothing is counted.
     */
    async reserveUnits({ source, bucket, day, units, limit }: QuotaReservation) {
      const statement = { sql: RESERVE_UNITS, args: [source, bucket, day, units, limit] };
      const options = { durability: "configured", inline: true } as const;
      const [reserved] = await database.write([statement], options);
      return reserved?.rows.length === 1;
    },

    /** Used units of a quota day. */
    async readUsedUnits(source: string, bucket: string, day: string) {
      const isDay = sql`(source, bucket, day) = (${source}, ${bucket}, ${day})`;
      const [used] = await database.query((drizzle) =>
        drizzle.select().from(quotaUse).where(isDay),
      );
      return used?.units ?? 0;
    },

    /** @param settings A hash of the settings with which the source stopped. */
    async saveStop(source: string, settings: string, { reason, since, until }: StoppedSource) {
      const statement = { sql: REPLACE_STOP, args: [source, settings, reason, since, until] };
      await database.write([statement], WRITE_OPTIONS);
    },

    /** The stop of a source; `undefined` when its settings were others. */
    async readStop(source: string, settings: string): Promise<StoppedSource | undefined> {
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
