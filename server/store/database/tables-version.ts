/**
 * The version of the tables. On a server, a newer version of the service may change the tables
 * while this process runs. From then on, its statements may mean something else: so each write
 * checks the version in its transaction, and this process does no more with the database.
 */
import { DomainError } from "../../../core/errors.ts";
import migrations from "../tables/migrations/meta/_journal.json" with { type: "json" };
import type { Statement } from "./database.ts";
import { NotSentError } from "./errors.ts";

/** The versions that this version of the service knows: when each of its migrations was made. */
export const KNOWN_VERSIONS: ReadonlySet<number> = new Set(
  migrations.entries.map(({ when }) => when),
);

/** Drizzle's name. It has a row for each applied migration. */
export const VERSIONS_TABLE = "__drizzle_migrations";

/** The version of the tables that this version of the service makes. */
export const NEWEST_VERSION = Math.max(...KNOWN_VERSIONS);

const HAS_NEWER_TABLES = `(SELECT max(created_at) FROM ${VERSIONS_TABLE}) > ${NEWEST_VERSION}`;

export const SELECT_HAS_NEWER_TABLES: Statement = {
  sql: `SELECT ${HAS_NEWER_TABLES} AS has_newer_tables`,
  args: [],
};

/** Fails its transaction if the tables are newer: NULL breaks a constraint. */
export const CHECK_VERSION: Statement = {
  sql: `
    INSERT INTO ${VERSIONS_TABLE} (hash, created_at)
    SELECT NULL, 0
    WHERE ${HAS_NEWER_TABLES}`,
  args: [],
};

/** The `uid` of a row, as SQL; NULL, which fails the statement, if the tables are newer. */
export const checkedUidSql = (uid: string): string => `iif(${HAS_NEWER_TABLES}, NULL, ${uid})`;

const VERSION_CONFLICT = new RegExp(
  `NOT NULL constraint failed: (?:${VERSIONS_TABLE}.hash|debit_batches.uid)`,
);

/** Whether a write failed because the tables are newer. */
export const isVersionConflict = (error: unknown): boolean => VERSION_CONFLICT.test(String(error));

/** The error of all calls of a process that is older than the tables. They did nothing. */
export const createNewerTablesError = (): NotSentError =>
  new NotSentError(
    new DomainError(
      "Service Unavailable",
      "This process is older than the tables of its database; a newer version has to replace it",
    ),
  );
