/**
 * A database in an embedded file. The thread that serves requests has one connection that only
 * reads and one for short writes. All other writes and long reads run in worker threads.
 */
import { statSync, type Stats } from "node:fs";
import { mkdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { readSystemErrorCode, undefinedIfMissing } from "../../system-errors.ts";
import type { Database, DatabaseOptions, Statement, StatementResult } from "./database.ts";
import { createDrizzleQueries } from "./drizzle-queries.ts";
import { mapTransientErrors } from "./errors.ts";
import { openFileWriter } from "./file-writer.ts";
import { openConnection, toResult, type SqliteConnection } from "./sqlite-connection.ts";

/** Makes a connection open all files that it reads. */
const PING: Statement = { sql: "SELECT count(*) FROM sqlite_master", args: [] };

/** Opens a file as it is, and creates it and its folder if they are missing. */
export async function openLocalDatabase(options: DatabaseOptions, file: string): Promise<Database> {
  await mkdir(dirname(file), { recursive: true });
  const { lockTimeoutMs = 5000, checkpointInterval = 600 } = options;
  const writer = openFileWriter(file, { lockTimeoutMs, checkpointInterval });
  // The first connection turns on WAL mode, in which readers and a writer don't block each other.
  await mapTransientErrors(() => writer.write([], { isSynced: true, inline: false }));
  const opened = statSync(file);
  let reader: SqliteConnection | undefined;

  function closeReader(): void {
    if (reader !== undefined) void writer.closeReader(reader);
    reader = undefined;
  }

  /** Reads in this thread. It opens the file at the first read, and again after an error. */
  function read<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    return mapTransientErrors(async () => {
      try {
        reader ??= openConnection(file, { lockTimeoutMs, isReadonly: true });
        return work(reader);
      } catch (error) {
        closeReader();
        throw error;
      }
    });
  }

  const query = (statement: Statement) =>
    read((connection) => toResult(connection.query(statement)));

  /** Fails if the file was removed or replaced: writes would be lost, or reach another file. */
  const runOnSameFile = <Result>(work: () => Promise<Result>) =>
    mapTransientErrors(() => {
      if (isSameFile(file, opened)) return work();
      const code = "SQLITE_READONLY_DBMOVED";
      const message = `${code}: ${file} was removed or replaced while it is in use`;
      throw Object.assign(new Error(message), { code });
    });

  const write: Database["write"] = (statements, { durability = "power", inline = false } = {}) => {
    const isSynced =
      durability === "power" || (durability === "configured" && options.durability === "power");
    return runOnSameFile(() => writer.write(statements, { isSynced, inline }));
  };

  return {
    transactionMaxBytes: Number.POSITIVE_INFINITY,
    query: createDrizzleQueries({
      execute: async (statement, mode) =>
        mode === "read" ? query(statement) : getOnly(await write([statement])),
      // A batch of queries reads many rows.
      batch: (statements, mode) =>
        mode === "read"
          ? runOnSameFile(() => writer.readInBackground(statements))
          : write(statements),
    }),
    queryRows: async (statement) =>
      (await query(typeof statement === "string" ? { sql: statement, args: [] } : statement)).rows,
    queryJson: (sql, args) => read((connection) => connection.queryJson(sql, args)),
    write,
    sync: () => (options.durability === "power" ? runOnSameFile(writer.sync) : Promise.resolve()),
    isRolledBack,
    copyTo: (target) => runOnSameFile(async () => void (await writer.copyTo(target))),
    probe: () => undefined,
    getOutage: () => undefined,
    readFileUse: async () => Object.assign(await readSizes(file), writer.counts),
    async warmUp() {
      await writer.write([], { isSynced: false, inline: true });
      await writer.readInBackground([PING]);
      await query(PING);
    },
    check: () => runOnSameFile(async () => void (await query(PING))),
    async close() {
      closeReader();
      await writer.close();
    },
  };
}

async function readSizes(file: string) {
  const [fileStats, logStats, disk] = await Promise.all([
    stat(file),
    undefinedIfMissing(stat(`${file}-wal`)),
    statfs(dirname(file)),
  ]);
  return {
    fileBytes: fileStats.size,
    logBytes: logStats?.size ?? 0,
    freeBytes: disk.bavail * disk.bsize,
  };
}

function getOnly([result]: readonly StatementResult[]): StatementResult {
  if (result === undefined) throw new Error("The statement has no result");
  return result;
}

function isSameFile(path: string, opened: Stats): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.ino === opened.ino && stats.dev === opened.dev;
}

/** Whether certainly nothing was written: not after an error of the disk, or one not of SQLite. */
function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^SQLITE_(?!IOERR)/.test(readSystemErrorCode(error)) || isRolledBack(error.cause);
}
