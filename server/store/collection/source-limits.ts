/** What is known of the sources: what was used of their quotas, and which of them are stopped. */
import type { QuotaReservation, StoppedSource } from "../../ports/targets.ts";
import type { Database } from "../database/database.ts";

const RELAXED_WRITE = { durability: "configured", idempotent: true } as const;

/** The sources as a database knows them. */
export function createSourceLimits(database: Database) {
  return {
    /**
     * Counts units of a quota day before they are used. Where the answer is lost they may be
     * counted and not used, never the other way around.
     *
     * @returns Whether they were there; else nothing is counted.
     */
    async reserveUnits({ source, bucket, day, units, limit }: QuotaReservation): Promise<boolean> {
      const identity = [source, bucket, day];
      const [, taken] = await database.write(
        [
          {
            sql:
              "INSERT INTO quota_use (source, bucket, day, units) VALUES (?, ?, ?, 0) " +
              "ON CONFLICT DO NOTHING",
            args: identity,
          },
          {
            sql:
              "UPDATE quota_use SET units = units + ? WHERE source = ? AND bucket = ? " +
              "AND day = ? AND units + ? <= ? RETURNING units",
            args: [units, ...identity, units, limit],
          },
        ],
        { durability: "configured", inline: true },
      );
      return taken?.rows.length === 1;
    },

    /** Units that are used of a quota day. */
    async readUsedUnits(source: string, bucket: string, day: string): Promise<number> {
      const [used] = await database.queryRows({
        sql: "SELECT units FROM quota_use WHERE source = ? AND bucket = ? AND day = ?",
        args: [source, bucket, day],
      });
      return Number(used?.["units"] ?? 0);
    },

    /** Notes that a source is stopped. @param settings A hash of what it was asked with. */
    async saveStop(
      source: string,
      settings: string,
      { reason, since, until }: StoppedSource,
    ): Promise<void> {
      const sql =
        "INSERT INTO stopped_sources (source, settings, reason, since, until) " +
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE SET settings = excluded.settings, " +
        "reason = excluded.reason, since = excluded.since, until = excluded.until";
      await database.write(
        [{ sql, args: [source, settings, reason, since, until] }],
        RELAXED_WRITE,
      );
    },

    /** The stop of a source, unless it was asked with other settings then. */
    async readStop(source: string, settings: string): Promise<StoppedSource | undefined> {
      const [row] = await database.queryRows({
        sql: "SELECT reason, since, until FROM stopped_sources WHERE source = ? AND settings = ?",
        args: [source, settings],
      });
      if (row === undefined) return undefined;
      const until = row["until"];
      return {
        reason: String(row["reason"]),
        since: Number(row["since"]),
        until: typeof until === "number" ? until : null,
      };
    },

    /** Forgets the stop of a source. */
    async clearStop(source: string): Promise<void> {
      const sql = "DELETE FROM stopped_sources WHERE source = ?";
      await database.write([{ sql, args: [source] }], RELAXED_WRITE);
    },
  };
}
