/** Stores and lists the audit. An entry precedes its change, so that no change lacks an entry. */
import { and, desc, eq, getTableColumns, lt } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import { audit, type AuditDetails } from "../tables/administration-tables.ts";

interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: (typeof audit.$inferSelect)["action"] | undefined;
  /** Only entries with smaller ids. */
  readonly before: number;
  readonly limit: number;
}

const INSERT_ENTRY = `
  INSERT INTO audit (uid, at, actor, origin, action, target, details)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (uid) DO UPDATE SET outcome = NULL`;

// Integers without the cast would be REAL, which JSON writes with a fraction.
const ADD_COUNTS = `
  UPDATE audit
  SET
    outcome = ?,
    details = (
      SELECT json_group_object(
        key,
        ifnull(json_extract(audit.details, '$.' || key), 0) + CAST(value AS INTEGER)
      )
      FROM json_each(?)
    )
  WHERE uid = ?`;

const { uid: _, ...LISTED_COLUMNS } = getTableColumns(audit);

export function createAuditStore(database: Database) {
  return {
    /** Stores an entry before its change. For a stored `uid`, it only clears the outcome. */
    async begin(entry: Omit<typeof audit.$inferSelect, "id" | "outcome">) {
      const { uid, at, actor, origin, action, target, details } = entry;
      const args = [uid, at, actor, origin, action, target, JSON.stringify(details)];
      await database.write([{ sql: INSERT_ENTRY, args }], { idempotent: true });
    },

    async finish(uid: string, outcome: string, details: AuditDetails) {
      const sql = "UPDATE audit SET outcome = ?, details = ? WHERE uid = ?";
      const args = [outcome, JSON.stringify(details), uid];
      await database.write([{ sql, args }], { idempotent: true });
    },

    /** Like `finish()`, but adds counts to the counts in the entry's details. */
    async add(uid: string, outcome: string, counts: Readonly<Record<string, number>>) {
      const args = [outcome, JSON.stringify(counts), uid];
      await database.write([{ sql: ADD_COUNTS, args }]);
    },

    /** The newest first. Without an outcome, an entry is in progress, or its outcome is unknown. */
    list: ({ actor, action, before, limit }: AuditFilter) =>
      database.query((drizzle) =>
        drizzle
          .select(LISTED_COLUMNS)
          .from(audit)
          .where(
            and(
              lt(audit.id, before),
              actor === undefined ? undefined : eq(audit.actor, actor),
              action === undefined ? undefined : eq(audit.action, action),
            ),
          )
          .orderBy(desc(audit.id))
          .limit(limit),
      ),
  };
}
