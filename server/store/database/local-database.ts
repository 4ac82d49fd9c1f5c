/**
 * A database in an embedded file.
 *
 * The thread that serves requests has one connection that only reads and one for short writes. All
 * other writes and long reads run in worker threads.
 */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Database, DatabaseOptions, Statement } from "./database.ts";
import { createSameFileAssertion } from "./database-file.ts";
import { createDrizzleQueries } from "./drizzle-queries.ts";
import { isRolledBack, mapTransientErrors } from "./errors.ts";
import { openFileWriter } from "./file-writer.ts";
import { openConnection, toResultSet, type SqliteConnection } from "./sqlite-connection.ts";

const DEFAULT_LOCK_TIMEOUT_MS = 5000;
const DEFAULT_CHECKPOINT_INTERVAL = 600;

/** A query that makes a connection open all files that it reads. */
const WARM_UP_QUERY: Statement = { sql: "SELECT count(*) FROM sqlite_master", args: [] };

/** Opens a file as it is, and creates it and its folder if they are missing. */
export async function openLocalDatabase(options: DatabaseOptions, file: string): Promise<Database> {
  await mkdir(dirname(file), { recursive: true });
  const lockTimeoutMs = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
  const checkpointInterval = options.checkpointInterval ?? DEFAULT_CHECKPOINT_INTERVAL;
  const writer = openFileWriter(file, { lockTimeoutMs, checkpointInterval });
  // The first connection turns on WAL mode, in which readers and a writer don't block each other.
  await mapTransientErrors(() => writer.write([], { isSynced: true, inline: false }));
  const reader = createReader(file, lockTimeoutMs, writer.closeReader);
  const query = (statement: Statement) =>
    reader.read((connection) => toResultSet(connection.query(statement)));
  const assertSameFile = createSameFileAssertion(file);
  const runOnSameFile = <Result>(work: () => Promise<Result>) =>
    mapTransientErrors(() => {
      assertSameFile();
      return work();
    });
  const write: Database["write"] = (statements, { durability = "power", inline = false } = {}) => {
    const isSynced =
      durability === "power" || (durability === "configured" && options.durability === "power");
    return runOnSameFile(() => writer.write(statements, { isSynced, inline }));
  };
  const readInBackground = (statements: readonly Statement[]) =>
    runOnSameFile(() => writer.readInBackground(statements));
  const writeOne = async (statement: Statement) => {
    const [result] = await write([statement]);
    if (result === undefined) throw new Error("The statement has no result");
    return result;
  };
  return {
    transactionMaxBytes: Number.POSITIVE_INFINITY,
    query: createDrizzleQueries({
      execute: (statement, mode) => (mode === "read" ? query(statement) : writeOne(statement)),
      // A batch of queries reads many rows.
      batch: (statements, mode) =>
        mode === "read" ? readInBackground(statements) : write(statements),
    }),
    queryRows: async (statement) =>
      (await query(typeof statement === "string" ? { sql: statement, args: [] } : statement)).rows,
    queryJson: (sql, args) =>
      reader.read((connection) => {
        const row = connection.queryFirst({ sql, args: [...args] });
        return row === undefined ? undefined : JSON.parse(String(row[0]));
      }),
    write,
    sync: () => (options.durability === "power" ? runOnSameFile(writer.sync) : Promise.resolve()),
    isRolledBack,
    copyTo: (target) => runOnSameFile(() => writer.copyTo(target)),
    getOutage: () => undefined,
    async warmUp() {
      await writer.write([], { isSynced: false, inline: true });
      await writer.readInBackground([WARM_UP_QUERY]);
      await query(WARM_UP_QUERY);
    },
    check: () => runOnSameFile(async () => void (await query({ sql: "SELECT 1", args: [] }))),
    async close() {
      reader.close();
      await writer.close();
    },
  };
}

/** Reads a file in this thread. It opens the file at the first read, and again after an error. */
function createReader(
  path: string,
  lockTimeoutMs: number,
  closeConnection: (connection: SqliteConnection) => unknown,
) {
  let connection: SqliteConnection | undefined;

  function close(): void {
    if (connection !== undefined) closeConnection(connection);
    connection = undefined;
  }

  return {
    read: <Result>(work: (connection: SqliteConnection) => Result): Promise<Result> =>
      mapTransientErrors(async () => {
        try {
          connection ??= openConnection(path, { lockTimeoutMs, readonly: true });
          return work(connection);
        } catch (error) {
          close();
          throw error;
        }
      }),
    close,
  };
}
