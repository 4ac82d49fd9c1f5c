/** Stores the audit. An entry is written before its change is made, so that no change is without one. */
import { and, desc, eq, lt } from "drizzle-orm";
import type { AuditStore } from "../../ports/administration.ts";
import type { Database } from "../database/database.ts";
import { audit } from "../tables/administration-tables.ts";

const INSERT_ENTRY = `
  INSERT INTO audit (uid, at, actor, origin, action, target, details)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (uid) DO UPDATE SET outcome = NULL`;

const FINISH_ENTRY = "UPDATE audit SET outcome = ?, details = ? WHERE uid = ?";

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

/** Creates the store of the audit. */
export function createAuditStore(database: Database): AuditStore {
  return {
    async begin({ uid, at, actor, origin, action, target, details }) {
      const args = [uid, at, actor, origin, action, target, JSON.stringify(details)];
      await database.write([{ sql: INSERT_ENTRY, args }], { idempotent: true });
    },

    async finish(uid, outcome, details) {
      const args = [outcome, JSON.stringify(details), uid];
      await database.write([{ sql: FINISH_ENTRY, args }], { idempotent: true });
    },

    async add(uid, outcome, counts) {
      const args = [outcome, JSON.stringify(counts), uid];
      await database.write([{ sql: ADD_COUNTS, args }]);
    },

    list: ({ actor, action, before, limit }) =>
      database.query((drizzle) =>
        drizzle
          .select({
            id: audit.id,
            at: audit.at,
            actor: audit.actor,
            origin: audit.origin,
            action: audit.action,
            target: audit.target,
            details: audit.details,
            outcome: audit.outcome,
          })
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
