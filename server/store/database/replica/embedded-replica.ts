/**
 * An embedded replica: a file with a copy of a database on a libSQL server. A process of its own
 * writes it. This process reads it with a connection of its own, as any other file.
 */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, DatabaseReads } from "../database.ts";
import { isLocked, openConnection, toResult, type SqliteConnection } from "../sqlite-connection.ts";
import type { ReplicaSource } from "./catch-up.ts";
import { openSyncProgram, type SyncProgram } from "./sync-client.ts";
import type { SyncTarget } from "./sync-program.ts";

/** The suffixes of the files of a replica: those of SQLite, and the state of the replication. */
const FILE_SUFFIXES = ["", "-wal", "-shm", "-journal", "-client_wal_index", "-info"];

/**
 * After how long without a success the copy is made anew, while the server answers. Until then,
 * the server may only have no copy to send, because it compacts its log.
 */
const FAILING_MS = 30_000;

/** What the driver says of a damaged file. It has no code for that. */
const DAMAGED = /not a ?database|malformed|corrupt/i;

/** The least time between two new copies: one reads the whole database. */
const REMAKE_INTERVAL_MS = 60_000;

export function createEmbeddedReplica(
  target: SyncTarget,
  primary: Pick<Database, "getOutage">,
): ReplicaSource {
  const { file } = target;
  const copy = createCopyReader(file);
  let program: SyncProgram | undefined;
  let failingSince: number | undefined;
  let remadeAt = Number.NEGATIVE_INFINITY;
  const closing = new AbortController();

  async function endProgram(): Promise<void> {
    const ending = program;
    program = undefined;
    await ending?.end();
  }

  /** Deletes the copy, so that the program makes a new one. */
  async function remake(): Promise<void> {
    const now = performance.now();
    if (now - remadeAt < REMAKE_INTERVAL_MS) {
      throw new Error("The copy is wrong, and it was made less than a minute ago");
    }
    remadeAt = now;
    await endProgram();
    copy.remove();
  }

  async function synchronize(): Promise<void> {
    try {
      closing.signal.throwIfAborted();
      if (program?.hasEnded()) program = undefined;
      mkdirSync(dirname(file), { recursive: true });
      program ??= await openSyncProgram(target, closing.signal);
      await program.synchronize();
      failingSince = undefined;
    } catch (error) {
      failingSince ??= performance.now();
      const isLasting = performance.now() - failingSince > FAILING_MS;
      const isWrong = isLasting && primary.getOutage() === undefined;
      if (isWrong || DAMAGED.test(String(error))) copy.markWrong();
      throw error;
    }
  }

  return {
    reads: copy.reads,
    discard: copy.markWrong,
    async advance(): Promise<void> {
      if (copy.isWrong()) await remake();
      await synchronize();
      if (!closing.signal.aborted) copy.open();
    },
    async close(): Promise<void> {
      closing.abort(new Error("The replica is closed"));
      copy.close();
      await endProgram();
    },
  };
}

/** Reads the file in this thread, and notices that it is wrong: damaged, removed or replaced. */
function createCopyReader(file: string) {
  let connection: SqliteConnection | undefined;
  /** The file that the connection opened. */
  let opened: string | undefined;
  let isWrong = false;

  function close(): void {
    connection?.close();
    connection = undefined;
  }

  /** Runs work; any error but a lock means that the file is damaged. */
  function attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      close();
      isWrong ||= !isLocked(error);
      throw error;
    }
  }

  async function read<Result>(work: (opened: SqliteConnection) => Result): Promise<Result> {
    const reader = connection;
    if (reader === undefined) throw new Error("There is no copy yet");
    return attempt(() => work(reader));
  }

  const reads: DatabaseReads = {
    queryJson: (sql, args) => read((reader) => reader.queryJson(sql, args)),
    queryRows: (given) =>
      read((reader) => {
        const statement = typeof given === "string" ? { sql: given, args: [] } : given;
        return toResult(reader.query(statement)).rows;
      }),
  };

  return {
    reads,
    close,
    isWrong: () => isWrong,
    markWrong: () => void (isWrong = true),

    /** Opens the file after a synchronization, unless it is open. */
    open(): void {
      const found = identifyFile(file);
      if (connection !== undefined && found !== opened) {
        close();
        isWrong = true;
        // A file that the program wrote in its place lacks all earlier changes.
        throw new Error("The file was removed or replaced");
      }
      opened = found;
      connection ??= attempt(() => openConnection(file, { lockTimeoutMs: 0, isReadonly: true }));
    },

    remove(): void {
      close();
      for (const suffix of FILE_SUFFIXES) rmSync(file + suffix, { force: true });
      isWrong = false;
    },
  };
}

function identifyFile(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
