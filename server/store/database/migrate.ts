/** Brings the tables of a database up to date, once; refuses tables that it does not know. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { readMigrationFiles, type MigrationMeta } from "drizzle-orm/migrator";
import { DomainError } from "../../../core/errors.ts";
import { defineAsset } from "../../assets.ts";
import type { Database } from "./database.ts";
import { KNOWN_VERSIONS, VERSIONS_TABLE } from "./tables-version.ts";

const MIGRATIONS_FOLDER = join(import.meta.dir, "../tables/migrations");

const readMigrations = defineAsset("migrations.json", async () =>
  JSON.stringify(readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER })),
);

/** How long a process waits while another one migrates. */
const WAIT_MAX_MS = 120_000;
const WAIT_INTERVAL_MS = 250;

/**
 * Applies the missing migrations as one transaction. If several processes start on a server at
 * once, one migrates, and the others wait until nothing is left to do.
 */
export async function migrateTables(database: Database): Promise<void> {
  for (const deadline = performance.now() + WAIT_MAX_MS; ;) {
    const applied = await readVersions(database);
    if (applied.size === KNOWN_VERSIONS.size) return;
    try {
      await applyMigrations(database, applied);
      return;
    } catch (error) {
      const isWaiting = (await isMigratedBy(database, error)) && performance.now() < deadline;
      if (!isWaiting) throw error;
      await sleep(WAIT_INTERVAL_MS);
    }
  }
}

/** Whether a migration failed because another process migrates, or has migrated meanwhile. */
async function isMigratedBy(database: Database, error: unknown): Promise<boolean> {
  if (error instanceof DomainError) {
    return error.code === "Service Unavailable" && database.getOutage() === undefined;
  }
  return (await readVersions(database)).size === KNOWN_VERSIONS.size;
}

// A second process that applies the same migration fails at the index.
const CREATE_VERSIONS_TABLE = [
  `CREATE TABLE IF NOT EXISTS ${VERSIONS_TABLE} (
    id SERIAL PRIMARY KEY,
    hash text NOT NULL,
    created_at numeric
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS drizzle_migrations_version ON ${VERSIONS_TABLE} (created_at)`,
];

async function applyMigrations({ query }: Database, applied: ReadonlySet<number>): Promise<void> {
  const migrations: MigrationMeta[] = JSON.parse(await readMigrations());
  const missing = migrations
    .filter(({ folderMillis }) => !applied.has(folderMillis))
    .flatMap((migration) =>
      migration.sql.concat(`
        INSERT INTO ${VERSIONS_TABLE} (hash, created_at)
        VALUES ('${migration.hash}', ${migration.folderMillis})`),
    );
  await query((drizzle) => {
    const [first = "", ...others] = [...CREATE_VERSIONS_TABLE, ...missing];
    const run = (text: string) => drizzle.run(sql.raw(text));
    return drizzle.batch([run(first), ...others.map(run)]);
  });
}

// Programs that replicate a database keep tables with an underscore.
const SELECT_TABLES = `
  SELECT name
  FROM sqlite_master
  WHERE type = 'table'
    AND name NOT GLOB 'sqlite_*'
    AND name NOT GLOB 'libsql_*'
    AND (name = '${VERSIONS_TABLE}' OR name NOT GLOB '_*')`;

/**
 * Returns the applied migrations, none for an empty database. Refuses those of other versions, and
 * of other programs.
 */
export async function readVersions(database: Pick<Database, "queryRows">): Promise<Set<number>> {
  const tables = await database.queryRows(SELECT_TABLES);
  if (tables.length === 0) return new Set();
  if (!tables.some(({ name }) => name === VERSIONS_TABLE)) {
    throw new DomainError(
      "Conflict",
      "Another program made this database; set DATABASE_URL to a database of this service, or to " +
        "a new file",
    );
  }
  const rows = await database.queryRows(`SELECT created_at FROM ${VERSIONS_TABLE}`);
  const applied = new Set(rows.map((row) => Number(row["created_at"])));
  assertKnown([...applied.difference(KNOWN_VERSIONS)]);
  return applied;
}

function assertKnown(unknown: readonly number[]): void {
  if (unknown.length === 0) return;
  throw new DomainError(
    "Conflict",
    Math.max(...unknown) > Math.max(...KNOWN_VERSIONS)
      ? "A newer version of this service made the tables of this database; start that version, " +
          "or restore a backup from before it"
      : "An unreleased version of this service made the tables of this database; export the " +
          "observations with that version, and import them into a new database",
  );
}
