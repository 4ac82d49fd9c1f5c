/**
 * Writes short transactions in the thread that serves requests. The commit itself is not synced
 * there: `fdatasync` of the write-ahead log runs in the thread pool while requests go on.
 *
 * The log is synced through a descriptor that stays open as long as the connection: meanwhile no
 * process can replace the log, so the sync covers all that the commit appended.
 */
import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import type { Statement } from "./database.ts";
import { isLocked, openConnection, type StatementResult } from "./sqlite-connection.ts";

const syncDescriptor = promisify(fdatasync);

/** Opens a file for short writes. It never checkpoints: that would block this thread for too long. */
export function openInlineWriter(path: string) {
  let openLog: ReturnType<typeof open> | undefined;

  function open() {
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
    if (openLog === undefined) return;
    const { connection, logDescriptor, pendingSyncs } = openLog;
    openLog = undefined;
    connection.close();
    // A pending sync must not run on another file that got the number of this descriptor.
    void Promise.allSettled(pendingSyncs).then(() => closeSync(logDescriptor));
  }

  return {
    /**
     * Runs statements as one transaction, all or none, without waiting for a lock.
     *
     * @returns Their results; `undefined` if another process holds the lock.
     */
    write(statements: readonly Statement[]): StatementResult[] | undefined {
      try {
        openLog ??= open();
        return openLog.connection.write(statements, { isSynced: false });
      } catch (error) {
        if (!isLocked(error)) throw error;
        close();
        return undefined;
      }
    },

    /** Resolves once all writes so far are on the disk. */
    async sync(): Promise<void> {
      if (openLog === undefined) return;
      const { logDescriptor, pendingSyncs } = openLog;
      const sync = syncDescriptor(logDescriptor);
      pendingSyncs.add(sync);
      try {
        await sync;
      } finally {
        pendingSyncs.delete(sync);
      }
    },

    close,
  };
}
