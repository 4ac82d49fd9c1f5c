/** The tables of roles: work that one of the processes that share a database server does for all. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Role } from "../../stored-names.ts";

/**
 * The leases of roles. Where the entities have a database of their own, they have the holders too,
 * without leases: the writes there check them.
 */
export const roles = sqliteTable("roles", {
  name: text().$type<Role>().primaryKey(),
  /** Identifies a process until its end; empty after a release. Writes that need the role check it. */
  holder: text().notNull(),
  /** The holder for people: its process id and its machine. */
  process: text().notNull(),
  /** How many holders there were until now. So a holder of before is known. */
  term: integer().notNull().default(1),
  /** Milliseconds since 1970 UTC, by the clock of the database. */
  expiresAt: integer("expires_at").notNull(),
  /** Where other processes reach the holder, `HOST:PORT`, if the role needs that. */
  address: text(),
});

/**
 * By this key and certificate, the processes that share a database know each other: each presents
 * the certificate, and trusts no other. There is one row, which the first process inserts.
 */
export const peerCertificates = sqliteTable("peer_certificates", {
  id: integer().primaryKey(),
  /** In PEM, as is the certificate. */
  privateKey: text("private_key").notNull(),
  certificate: text().notNull(),
});
