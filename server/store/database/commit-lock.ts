/**
 * The commit lock of a database file: one connection of the process holds it at a time.
 *
 * SQLite 3.7.0 to 3.51.2 can lose commits when one connection checkpoints while a commit on another
 * one resets the write-ahead log (https://sqlite.org/wal.html#walresetbug). The driver has 3.45.1, and
 * no release of it has the fix (https://github.com/tursodatabase/libsql/issues/2271). So each commit
 * and each checkpoint needs this lock, and so does closing a connection, which can checkpoint.
 */
import { resolve } from "node:path";
import pLimit, { type LimitFunction } from "p-limit";

/** The locks by path, of all files that the process ever opened: a few. */
const locks = new Map<string, LimitFunction>();

/** Returns the lock of a file, the same one to every opened database of the file. */
export function getCommitLock(path: string): LimitFunction {
  return locks.getOrInsertComputed(resolve(path), () => pLimit(1));
}

/** Whether a version of SQLite has the bug: then no other program may checkpoint the file either. */
export function hasWalResetBug(version: string): boolean {
  const compareTo = (other: string) => version.localeCompare(other, "en", { numeric: true });
  return compareTo("3.7.0") >= 0 && compareTo("3.51.2") <= 0;
}
