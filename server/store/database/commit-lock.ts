/**
 * The commit lock of a database file: one connection of the process holds it at a time.
 *
 * SQLite 3.7.0 to 3.51.2 can lose commits when one connection checkpoints while a commit on another
 * one resets the write-ahead log (https://sqlite.org/wal.html#walresetbug). The driver has 3.45.1, and
 * no release of it has the fix (https://github.com/tursodatabase/libsql/issues/2271). So each commit
 * and each checkpoint needs this lock, and so does closing a connection, which can checkpoint.
 */
import { resolve } from "node:path";

/** The first and the last version with the bug. */
const FIRST_AFFECTED = "3.7.0";
const LAST_AFFECTED = "3.51.2";

/** The lock of one file. */
interface CommitLock {
  /**
   * Runs work that commits, checkpoints or closes a connection, in the order of the calls: at once if
   * the lock is free. The work holds it until it returns, or until its promise is settled.
   */
  run<Result>(work: () => Result | Promise<Result>): Result | Promise<Result>;
  /** Ends the use by one opened database. */
  dispose(): void;
}

/** The locks of the open files, by path, and how many opened databases use each. */
const locks = new Map<string, Pick<CommitLock, "run"> & { users: number }>();

/** Returns the lock of a file. Every opened database of the file gets the same one. */
export function getCommitLock(path: string): CommitLock {
  const file = resolve(path);
  const lock = locks.get(file) ?? { ...createLock(), users: 0 };
  locks.set(file, lock);
  lock.users++;
  return {
    run: lock.run,
    dispose() {
      if (--lock.users === 0) locks.delete(file);
    },
  };
}

function createLock(): Pick<CommitLock, "run"> {
  let isHeld = false;
  const waiting: (() => void)[] = [];

  function hold<Result>(work: () => Result | Promise<Result>): Result | Promise<Result> {
    isHeld = true;
    let result: Result | Promise<Result> | undefined;
    try {
      result = work();
    } finally {
      isHeld = result instanceof Promise;
    }
    if (!(result instanceof Promise)) return result;
    return result.finally(() => {
      isHeld = false;
      runWaiting();
    });
  }

  function runWaiting(): void {
    for (;;) {
      const next = isHeld ? undefined : waiting.shift();
      if (next === undefined) return;
      next();
    }
  }

  return {
    run<Result>(work: () => Result | Promise<Result>) {
      if (isHeld) {
        return new Promise<Result>((resolveResult, reject) => {
          waiting.push(() => {
            try {
              resolveResult(hold(work));
            } catch (error) {
              reject(error);
            }
          });
        });
      }
      try {
        return hold(work);
      } finally {
        runWaiting();
      }
    },
  };
}

/**
 * Whether a version of SQLite has the bug: then no other program may checkpoint the file either.
 *
 * @example
 * hasWalResetBug("3.45.1"); // true
 */
export function hasWalResetBug(version: string): boolean {
  return (
    compareVersions(version, FIRST_AFFECTED) >= 0 && compareVersions(version, LAST_AFFECTED) <= 0
  );
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
