/** Temporary database files, and access to them from another process. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database, DatabaseOptions } from "../../../server/store/database/database.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";

/** The bytes of a database without rows: to write them is faster than to run all migrations. */
let emptyDatabase: Promise<Uint8Array> | undefined;

async function createEmptyDatabase(): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "database-"));
  const file = join(folder, "metrics.db");
  const database = await openDatabase({ url: `file:${file}`, durability: "process" });
  try {
    await database.queryRows("PRAGMA wal_checkpoint(TRUNCATE)");
    return await readFile(file);
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the file of a database without rows, which `openDatabase()` can open. */
export async function writeEmptyDatabase(file: string): Promise<void> {
  await writeFile(file, await (emptyDatabase ??= createEmptyDatabase()), { mode: 0o600 });
}

/** Runs a test with a new database file, and deletes the file afterwards. */
export async function withDatabase<Result>(
  work: (database: Database, file: string) => Promise<Result>,
  options: Partial<DatabaseOptions> = {},
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "database-"));
  const file = join(folder, "metrics.db");
  await writeEmptyDatabase(file);
  const database = await openDatabase({
    url: `file:${file}`,
    durability: "process",
    ...options,
  });
  try {
    return await work(database, file);
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The rows of a query, as plain objects. */
export async function queryRows(
  database: Database,
  sql: string,
): Promise<Record<string, unknown>[]> {
  return (await database.queryRows(sql)).map((row) => Object.fromEntries(Object.entries(row)));
}

// bun:sqlite and the libSQL client do not see each other's locks within one process. So a test that
// reads or locks a file from outside needs another process.

const QUERY_SCRIPT = `
  const [file, sql] = process.argv.slice(1);
  const { Database } = require("bun:sqlite");
  console.log(JSON.stringify(new Database(file).query(sql).all()));`;

/** The rows of a query in another process, which sees only what is stored. */
export async function queryFromOtherProcess(file: string, sql: string): Promise<unknown> {
  const reader = Bun.spawn([process.execPath, "-e", QUERY_SCRIPT, file, sql], {
    stderr: "inherit",
  });
  return new Response(reader.stdout).json();
}

const LOCK_SCRIPT = `
  const [file, ms] = process.argv.slice(1);
  const { Database } = require("bun:sqlite");
  const database = new Database(file);
  database.exec("BEGIN EXCLUSIVE");
  console.log("held");
  if (ms === "0") await new Response(Bun.stdin.stream()).text();
  else Bun.sleepSync(Number(ms));
  database.exec("ROLLBACK");
  database.close();`;

/**
 * Locks a file for writing from another process.
 *
 * @param durationMs The time after which the lock ends. 0 means until `release()`.
 */
export async function lockFromOtherProcess(
  file: string,
  durationMs = 0,
): Promise<{ release(): Promise<void> }> {
  const lockProcess = Bun.spawn([process.execPath, "-e", LOCK_SCRIPT, file, String(durationMs)], {
    stdin: "pipe",
    stderr: "inherit",
  });
  const reader = lockProcess.stdout.getReader();
  const { done } = await reader.read();
  if (done) throw new Error("The lock could not be acquired");
  return {
    async release(): Promise<void> {
      await lockProcess.stdin.end();
      await lockProcess.exited;
    },
  };
}

/** The value of a promise, or the code and message of its error. */
export async function resultOrError(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error) return [error.code, error.message];
    throw error;
  }
}

/** A value as a client receives it: raw JSON in it is parsed. */
export function jsonRoundTrip<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
