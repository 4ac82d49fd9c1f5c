/**
 * Writes so short that they need not leave the thread of the requests: they are committed there
 * without a sync, and the system syncs them in a thread of its own while the requests go on.
 *
 * The sync covers what the commit appended to the write-ahead log. It is asked for on a descriptor
 * that lives as long as the connection: as long as that is open nobody can replace the log.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import {
  openConnection,
  isLocked,
  type SqliteConnection,
  type Statement,
  type StatementResult,
} from "./sqlite-connection.ts";

/** Commits between two checkpoints: about 20 MB of log. */
const COMMITS_PER_CHECKPOINT = 1000;

const syncDescriptor = promisify(fdatasync);

interface OpenWal {
  readonly connection: SqliteConnection;
  /** The write-ahead log. */
  readonly walDescriptor: number;
  /** The syncs of it under way. */
  readonly pendingSyncs: Set<Promise<void>>;
}

/**
 * Opens a file for short writes.
 *
 * @param onCheckpointDue Told when it is time for a checkpoint, which would take too long here.
 */
export function openInlineWriter(path: string, onCheckpointDue: () => void) {
  let current: OpenWal | undefined;
  let commitCount = 0;

  function open(): OpenWal {
    const connection = openConnection(path, 0);
    try {
      connection.write([{ sql: "PRAGMA wal_autocheckpoint = 0", args: [] }], false);
      return { connection, walDescriptor: openSync(`${path}-wal`, "r"), pendingSyncs: new Set() };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  function close(): void {
    if (current === undefined) return;
    const { connection, walDescriptor: log, pendingSyncs: syncs } = current;
    current = undefined;
    connection.close();
    // A sync that has not begun would be one of whatever file gets the number of this descriptor.
    void Promise.allSettled(syncs).then(() => closeSync(log));
  }

  return {
    /**
     * Writes statements as one transaction, all or none, and does not wait for a lock.
     *
     * @returns What they did; `undefined` where another process holds the lock.
     */
    write(statements: readonly Statement[]): StatementResult[] | undefined {
      try {
        current ??= open();
        const results = current.connection.write(statements, false);
        if (++commitCount % COMMITS_PER_CHECKPOINT === 0) onCheckpointDue();
        return results;
      } catch (error) {
        if (!isLocked(error)) throw error;
        close();
        return undefined;
      }
    },

    /** Resolves once what was written so far is on the disk. */
    sync: async (): Promise<void> => {
      if (current === undefined) return;
      const { walDescriptor: log, pendingSyncs: syncs } = current;
      const done = syncDescriptor(log);
      syncs.add(done);
      try {
        await done;
      } finally {
        syncs.delete(done);
      }
    },

    close,
  };
}
