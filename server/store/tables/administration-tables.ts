/** The tables of administrators' tokens and sessions, and the audit. Instants are milliseconds since 1970 UTC. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { AUDIT_ACTIONS } from "../../stored-names.ts";

/** More about a change; never a secret. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** The token itself is not stored, only its SHA-256 in hex, and its first characters. */
export const adminTokens = sqliteTable(
  "admin_tokens",
  {
    id: integer().primaryKey(),
    name: text().notNull(),
    hash: text().notNull().unique(),
    beginsWith: text("begins_with").notNull(),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
    revokedAt: integer("revoked_at"),
  },
  (table) => [
    uniqueIndex("admin_tokens_name")
      .on(table.name)
      .where(sql`${table.revokedAt} IS NULL`),
  ],
);

/**
 * The sessions in which administrators look at the dashboard without an account. The session itself
 * is not stored, only a SHA-256 in hex, and its first characters. Ended ones are deleted.
 */
export const adminSessions = sqliteTable("admin_sessions", {
  /** In a session of ADMIN_TOKEN, with that token as the key. */
  hash: text().primaryKey(),
  beginsWith: text("begins_with").notNull(),
  /** The name of the token that opened it, for the audit. */
  actor: text().notNull(),
  /** The id of that token; NULL for ADMIN_TOKEN. */
  token: integer(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** An entry for each change that an administrator requested, or a customer of the own key. */
export const audit = sqliteTable(
  "audit",
  {
    id: integer().primaryKey(),
    /** Created before the entry is written, so that a retried write is applied once. */
    uid: text().notNull().unique(),
    at: integer().notNull(),
    actor: text().notNull(),
    /** An address, or the name of a machine. */
    origin: text().notNull(),
    action: text().$type<(typeof AUDIT_ACTIONS)[number]>().notNull(),
    target: text(),
    details: text({ mode: "json" }).$type<AuditDetails>().notNull(),
    /** `done` or the name of an error; NULL while it is not known. */
    outcome: text(),
  },
  (table) => [
    index("audit_actor").on(table.actor, table.id),
    index("audit_action").on(table.action, table.id),
  ],
);
