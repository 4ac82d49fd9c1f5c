/**
 * Writes so short that they need not leave the thread of the requests: they are committed there
 * without a sync, and the system syncs them in a thread of its own while the requests go on.
 *
 * The sync covers what the commit appended to the write-ahead log. It is asked for on a descriptor
 * that lives as long as the connection: as long as that is open nobody can replace the log.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { connect, isLocked, type Connection, type Statement, type Written } from "./connection.ts";

/** Commits between two checkpoints: about 20 MB of log. */
const COMMITS_OF_A_CHECKPOINT = 1000;

const sync = promisify(fdatasync);

interface Opened {
  readonly connection: Connection;
  /** The write-ahead log. */
  readonly log: number;
  /** The syncs of it under way. */
  readonly syncs: Set<Promise<void>>;
}

/**
 * Opens a file for short writes.
 *
 * @param onFullLog Told when it is time for a checkpoint, which would take too long here.
 */
export function openQuickWriter(path: string, onFullLog: () => void) {
  let opened: Opened | undefined;
  let commits = 0;

  function open(): Opened {
    const connection = connect(path, 0);
    try {
      connection.write([{ sql: "PRAGMA wal_autocheckpoint = 0", args: [] }], false);
      return { connection, log: openSync(`${path}-wal`, "r"), syncs: new Set() };
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  function close(): void {
    if (opened === undefined) return;
    const { connection, log, syncs } = opened;
    opened = undefined;
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
    write(statements: readonly Statement[]): Written[] | undefined {
      try {
        opened ??= open();
        const written = opened.connection.write(statements, false);
        if (++commits % COMMITS_OF_A_CHECKPOINT === 0) onFullLog();
        return written;
      } catch (error) {
        if (!isLocked(error)) throw error;
        close();
        return undefined;
      }
    },

    /** Resolves once what was written so far is on the disk. */
    sync: async (): Promise<void> => {
      if (opened === undefined) return;
      const { log, syncs } = opened;
      const done = sync(log);
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
