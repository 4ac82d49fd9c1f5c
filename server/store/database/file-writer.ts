/**
 * The writer of a database file, with the commit lock, checkpoints and copies: short writes run
 * inline, all others in a worker thread. A second worker thread runs long reads.
 *
 * SQLite 3.7.0 to 3.51.2 can lose commits when one connection checkpoints while a commit on another
 * one resets the write-ahead log (https://sqlite.org/wal.html#walresetbug). The driver has 3.45.1,
 * and no release of it has the fix (https://github.com/tursodatabase/libsql/issues/2271). So one
 * connection of the process holds the commit lock of a file at a time: each commit and each
 * checkpoint needs it, and so does closing a connection, which can checkpoint.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import pLimit, { type LimitFunction } from "p-limit";
import type { Statement, StatementResult } from "./database.ts";
import {
  isLocked,
  openConnection,
  toResult,
  type SqliteConnection,
  type RawResult,
} from "./sqlite-connection.ts";
import { getProgramUrl } from "../../programs.ts";
import { createWorkerClient } from "../../worker-rpc.ts";

export type WriterRequest = {
  readonly file: { readonly id: number; readonly path: string; readonly lockTimeoutMs: number };
} & WriterOperation;

type WriterOperation =
  | { method: "write"; statements: readonly Statement[]; isSynced: boolean }
  | { method: "read"; statements: readonly Statement[] }
  | { method: "copy"; target: string }
  | { method: "checkpoint" | "close" };

// One of each for all files of the process; a thread starts with its first request.
const WORKER_FILE = getProgramUrl("store/database/writer-worker.ts");
const writerWorker = createWorkerClient<WriterRequest, RawResult[]>(WORKER_FILE);
const readerWorker = createWorkerClient<WriterRequest, RawResult[]>(WORKER_FILE);
let lastFileId = 0;

/** The locks by path, of all files that the process ever opened: a few. */
const locks = new Map<string, LimitFunction>();

/** Returns the lock of a file, the same one to every opened database of the file. */
export function getCommitLock(path: string): LimitFunction {
  return locks.getOrInsertComputed(resolve(path), () => pLimit(1));
}

const isFree = (lock: LimitFunction) => lock.activeCount + lock.pendingCount === 0;

/**
 * Whether a version of SQLite can lose commits: then no other program may checkpoint the file
 * either.
 */
export function hasWalResetBug(version: string): boolean {
  const compareTo = (other: string) => version.localeCompare(other, "en", { numeric: true });
  return compareTo("3.7.0") >= 0 && compareTo("3.51.2") <= 0;
}

function callWriterThread(
  file: WriterRequest["file"],
  operation: WriterOperation,
): Promise<RawResult[]> {
  return writerWorker.call({ file, ...operation }, { isJson: isSmall(operation) });
}

export function openFileWriter(
  path: string,
  { lockTimeoutMs, checkpointInterval }: Record<"lockTimeoutMs" | "checkpointInterval", number>,
) {
  const file = { id: ++lastFileId, path, lockTimeoutMs };
  const holdCommitLock = getCommitLock(path);
  const inlineWriter = createInlineWriter(path);
  const { counts, sync } = createSyncs(path);
  // A copy can take minutes, and ends with the process: closing does not wait for it.
  const limitCopies = pLimit(1);
  let isReaderUsed = false;
  let changeCount = 0;
  let checkpoint: Promise<unknown> | undefined;
  let isClosing = false;

  /** Counts the changes of a commit, and starts a checkpoint if one is due. */
  function countChanges(changes: number): void {
    changeCount += changes;
    if (changeCount < checkpointInterval || checkpoint !== undefined || isClosing) return;
    changeCount = 0;
    counts.checkpoints++;
    checkpoint = sync() // The longest part, which needs no commit lock.
      .then(() => holdCommitLock(() => callWriter({ method: "checkpoint" })))
      .catch(() => undefined) // If it fails, the next one does it all.
      .finally(() => (checkpoint = undefined));
  }

  const callWriter = callWriterThread.bind(null, file);

  function callReader(operation: WriterOperation): Promise<RawResult[]> {
    isReaderUsed = true;
    return readerWorker.call({ file, ...operation }, { isJson: true });
  }

  return {
    /** Runs statements as one transaction, in the order of the calls. */
    async write(
      statements: readonly Statement[],
      { isSynced, inline }: { readonly isSynced: boolean; readonly inline: boolean },
    ): Promise<StatementResult[]> {
      let synced: Promise<void> | undefined;
      const writeInline = () => {
        const results = inline ? inlineWriter.write(statements) : undefined;
        // The sync begins now: the next holder of the lock may close the log.
        if (isSynced && results !== undefined) synced = inlineWriter.sync();
        return results;
      };
      const write = () => writeInline() ?? callWriter({ method: "write", statements, isSynced });
      if (isSynced) counts.syncs++;
      // An inline write takes the lock for no time: it only has to be free.
      const inlineResults = isFree(holdCommitLock) ? writeInline() : undefined;
      const results = inlineResults ?? (await holdCommitLock(write));
      countChanges(inline ? 1 : results.reduce((sum, { rowsAffected }) => sum + rowsAffected, 1));
      await synced;
      // An import waits for its checkpoints: so debits never wait for one and a part behind it.
      if (!inline) await checkpoint;
      return results.map(toResult);
    },

    sync,
    counts: counts as Readonly<typeof counts>,

    /** Reads at one instant. It blocks neither requests nor writes, however long it takes. */
    readInBackground: async (statements: readonly Statement[]): Promise<StatementResult[]> =>
      (await callReader({ method: "read", statements })).map(toResult),

    copyTo: (target: string) => limitCopies(() => callReader({ method: "copy", target })),

    closeReader: (connection: SqliteConnection) => holdCommitLock(connection.close),

    async close(): Promise<void> {
      isClosing = true;
      await checkpoint;
      await holdCommitLock(async () => {
        try {
          inlineWriter.close();
          if (isReaderUsed && isFree(limitCopies)) await callReader({ method: "close" });
        } finally {
          await callWriter({ method: "close" });
        }
      });
    },
  };
}

const syncDescriptor = promisify(fdatasync);

/**
 * Creates the writer of short transactions in the thread that serves requests. It never
 * checkpoints, and its commits are not synced there: both would block the thread for too long.
 * `fdatasync` of the write-ahead log runs in the thread pool while requests go on.
 *
 * The log is synced through a descriptor that stays open as long as the connection: meanwhile no
 * process can replace the log, so the sync covers all that the commit appended.
 */
function createInlineWriter(path: string) {
  let opened: ReturnType<typeof openLog> | undefined;

  function openLog() {
    const connection = openConnection(path, { lockTimeoutMs: 0 });
    try {
      connection.write([], { isSynced: false });
      const logDescriptor = openSync(`${path}-wal`, "r");
      return { connection, logDescriptor, pendingSyncs: new Set<Promise<void>>() };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  function close(): void {
    if (opened === undefined) return;
    const { connection, logDescriptor, pendingSyncs } = opened;
    opened = undefined;
    connection.close();
    // A pending sync must not run on another file that got the number of this descriptor.
    void Promise.allSettled(pendingSyncs).then(() => closeSync(logDescriptor));
  }

  return {
    /** Runs statements without waiting for a lock; `undefined` if another process holds it. */
    write(statements: readonly Statement[]): RawResult[] | undefined {
      try {
        opened ??= openLog();
        return opened.connection.write(statements, { isSynced: false });
      } catch (error) {
        if (!isLocked(error)) throw error;
        close();
        return undefined;
      }
    },

    async sync(): Promise<void> {
      if (opened === undefined) return;
      const { logDescriptor, pendingSyncs } = opened;
      const sync = syncDescriptor(logDescriptor);
      pendingSyncs.add(sync);
      await sync.finally(() => pendingSyncs.delete(sync));
    },

    close,
  };
}

/** Creates the syncs of a log, and the counts of syncs and checkpoints of its file. */
function createSyncs(path: string) {
  const counts = { syncs: 0, checkpoints: 0 };
  const sync = (): Promise<void> => {
    counts.syncs++;
    return syncLog(path);
  };
  return { counts, sync };
}

/**
 * Syncs the write-ahead log, as long as the writer is open: meanwhile no process can replace the
 * log. Commits that are no longer in it are in the database file, and a checkpoint synced both.
 */
async function syncLog(path: string): Promise<void> {
  await using log = await open(`${path}-wal`, "r");
  await log.datasync();
}

/** A small request crosses as text in a third of the time that an object takes. */
const SMALL_REQUEST_MAX_CHARACTERS = 10_000;

function isSmall(operation: WriterOperation): boolean {
  if (operation.method !== "write") return true;
  const args = operation.statements.flatMap((statement) => statement.args);
  const lengths = args.map((arg) => (typeof arg === "string" ? arg.length : 0));
  return lengths.reduce((sum, length) => sum + length, 0) <= SMALL_REQUEST_MAX_CHARACTERS;
}
