/** Stores the used quota of sources, and which sources are stopped. */
import { and, eq } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { quotaUse, stoppedSources } from "../tables/collection-tables.ts";

const WRITE_OPTIONS = { durability: "configured", idempotent: true } as const;

const INSERT_QUOTA_DAY = `
  INSERT INTO quota_use (source, bucket, day, units)
  VALUES (?, ?, ?, 0)
  ON CONFLICT DO NOTHING`;

const RESERVE_UNITS = `
  UPDATE quota_use
  SET units = units + ?
  WHERE source = ? AND bucket = ? AND day = ? AND units + ? <= ?
  RETURNING units`;

const UPSERT_STOP = `
  INSERT INTO stopped_sources (source, settings, reason, since, until)
  VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (source) DO UPDATE SET
    settings = excluded.settings,
    reason = excluded.reason,
    since = excluded.since,
    until = excluded.until`;

/** Quota units to reserve for one day. */
interface QuotaReservation {
  readonly source: string;
  readonly bucket: string;
  /** The quota day, such as `2026-11-20`. */
  readonly day: string;
  readonly units: number;
  /** The most units that may be used that day. */
  readonly limit: number;
}

/** Why and until when a source is not polled. */
export interface StoppedSource {
  readonly reason: string;
  readonly since: number;
  /** `null`: until the source's settings change. */
  readonly until: number | null;
}

/** Creates the quotas and stops of a database. */
export function createSourceLimits(database: Database) {
  return {
    /**
     * Counts units of a quota day before they are used, so that the count survives a crash.
     *
     * @returns Whether the day has them left; otherwise nothing is counted.
     */
    async reserveUnits({ source, bucket, day, units, limit }: QuotaReservation) {
      const identity = [source, bucket, day];
      const { reserved } = await writeNamed(
        database,
        {
          insertDay: { sql: INSERT_QUOTA_DAY, args: identity },
          reserved: { sql: RESERVE_UNITS, args: [units, ...identity, units, limit] },
        },
        { durability: "configured", inline: true },
      );
      return reserved.length === 1;
    },

    /** Used units of a quota day. */
    async readUsedUnits(source: string, bucket: string, day: string) {
      const isDay = and(
        eq(quotaUse.source, source),
        eq(quotaUse.bucket, bucket),
        eq(quotaUse.day, day),
      );
      const [used] = await database.query((drizzle) =>
        drizzle.select().from(quotaUse).where(isDay),
      );
      return used?.units ?? 0;
    },

    /** @param settings A hash of the settings with which the source stopped. */
    async saveStop(source: string, settings: string, { reason, since, until }: StoppedSource) {
      const statement = { sql: UPSERT_STOP, args: [source, settings, reason, since, until] };
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
      const sql = "DELETE FROM stopped_sources WHERE source = ?";
      await database.write([{ sql, args: [source] }], WRITE_OPTIONS);
    },
  };
}
