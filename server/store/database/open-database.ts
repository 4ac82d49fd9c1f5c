/** Opens a database, refuses unknown tables, and brings its own tables up to date. */
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { migrate } from "drizzle-orm/sqlite-proxy/migrator";
import pRetry from "p-retry";
import { DomainError } from "../../../core/errors.ts";
import migrations from "../tables/migrations/meta/_journal.json" with { type: "json" };
import type { Database, DatabaseOptions } from "./database.ts";
import { openLocalDatabase } from "./local-database.ts";
import { LOST_RESPONSE_RETRIES, openRemoteDatabase } from "./remote/remote-database.ts";

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const file = parseFileUrl(options.url);
  const database = await (file === undefined
    ? openRemoteDatabase(options)
    : openLocalDatabase(options, file));
  try {
    await assertMigrationsKnown(database);
    // If several processes start on a server at once, one migrates; the others retry and find
    // nothing left to do.
    await pRetry(() => applyMigrations(database), {
      ...LOST_RESPONSE_RETRIES,
      shouldRetry: () => file === undefined,
    });
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function applyMigrations({ query }: Database): Promise<void> {
  await query((drizzle) =>
    migrate(
      drizzle,
      async (statements) => {
        const [first, ...others] = statements.map((text) => drizzle.run(sql.raw(text)));
        if (first !== undefined) await drizzle.batch([first, ...others]);
      },
      { migrationsFolder: join(import.meta.dir, "../tables/migrations") },
    ),
  );
}

async function assertMigrationsKnown(database: Database): Promise<void> {
  const [table] = await database.queryRows(
    "SELECT name FROM sqlite_master WHERE name = '__drizzle_migrations'",
  );
  if (table === undefined) return assertNoTables(database);
  const applied = await database.queryRows("SELECT created_at FROM __drizzle_migrations");
  const known = new Set(migrations.entries.map(({ when }) => when));
  const unknown = applied.map((row) => Number(row["created_at"])).filter((at) => !known.has(at));
  if (unknown.length === 0) return;
  throw new DomainError(
    "Conflict",
    Math.max(...unknown) > Math.max(...known)
      ? "A newer version of this service made the tables of this database; start that version, " +
          "or restore a backup from before it"
      : "An unreleased version of this service made the tables of this database; export the " +
          "observations with that version, and import them into a new database",
  );
}

/** Refuses a new database with tables: another program made it, and may rely on them. */
async function assertNoTables(database: Database): Promise<void> {
  const [table] = await database.queryRows(
    `SELECT name
     FROM sqlite_master
     WHERE type = 'table'
       AND name NOT GLOB 'sqlite_*'
       AND name NOT GLOB 'libsql_*'
       AND name NOT GLOB '_*'`, // Programs that replicate a database keep tables with an underscore.
  );
  if (table === undefined) return;
  throw new DomainError(
    "Conflict",
    "Another program made this database; set DATABASE_URL to a database of this service, or to a " +
      "new file",
  );
}

export function parseFileUrl(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return decodeURIComponent(url.slice("file:".length).replace(/^\/\/(?=\/)/, ""));
}
