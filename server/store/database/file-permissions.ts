/** The permissions of a database file and of the files beside it: only their owner may use them. */
import { chmodSync, statSync } from "node:fs";
import { readSystemErrorCode } from "../../system-errors.ts";

/** What SQLite and the process that owns a database keep beside its file. */
const DATABASE_FILE_SUFFIXES = ["", "-wal", "-shm", "-journal", "-lock"];

/** What the group and all other users may do with a file. */
const GROUP_AND_OTHERS_BITS = 0o077;

/**
 * Takes from other users what they may do with the files of a database.
 *
 * @returns A phrase on each file that others could use: its mode before, and now.
 */
export function restrictToOwner(path: string): string[] {
  return DATABASE_FILE_SUFFIXES.flatMap((suffix) => restrictFile(path + suffix) ?? []);
}

function restrictFile(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A folder or a device that a wrong setting names is not ours to change.
  if (!stats?.isFile() || (stats.mode & GROUP_AND_OTHERS_BITS) === 0) return undefined;
  const mode = stats.mode & 0o600;
  try {
    chmodSync(file, mode);
    return `${file} had mode ${formatMode(stats.mode)}, and has ${formatMode(mode)} now`;
  } catch (error) {
    const reason = `it belongs to user ${stats.uid}, and cannot be changed (${readSystemErrorCode(error)})`;
    return `${file} has mode ${formatMode(stats.mode)}: ${reason}`;
  }
}

function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
