/** Stores the used quota of sources, and which sources are stopped. */
import { and, eq } from "drizzle-orm";
import type { CollectionState } from "../../ports/collection.ts";
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

type SourceLimits = Pick<
  CollectionState,
  "reserveUnits" | "readUsedUnits" | "saveStop" | "readStop" | "clearStop"
>;

/** Creates the quotas and stops of a database. */
export function createSourceLimits(database: Database): SourceLimits {
  return {
    async reserveUnits({ source, bucket, day, units, limit }) {
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

    async readUsedUnits(source, bucket, day) {
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

    async saveStop(source, settings, { reason, since, until }) {
      const statement = { sql: UPSERT_STOP, args: [source, settings, reason, since, until] };
      await database.write([statement], WRITE_OPTIONS);
    },

    async readStop(source, settings) {
      const { reason, since, until } = stoppedSources;
      const isStop = and(eq(stoppedSources.source, source), eq(stoppedSources.settings, settings));
      const [stop] = await database.query((drizzle) =>
        drizzle.select({ reason, since, until }).from(stoppedSources).where(isStop),
      );
      return stop;
    },

    async clearStop(source) {
      const sql = "DELETE FROM stopped_sources WHERE source = ?";
      await database.write([{ sql, args: [source] }], WRITE_OPTIONS);
    },
  };
}
