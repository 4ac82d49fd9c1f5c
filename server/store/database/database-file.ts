/** The file of an embedded database: its URL, its size and its permissions. */
import { chmodSync, statSync } from "node:fs";
import { readSystemErrorCode } from "../../system-errors.ts";

/** The path of the file in a database URL; `undefined` for the URL of a server. */
export function parseFileUrl(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return decodeURIComponent(url.slice("file:".length).replace(/^\/\/(?=\/)/, ""));
}

/** The size of a database file, with its recent changes, which are in a file of their own. */
export function readFileBytes(path: string): number {
  const readSize = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return readSize(path) + readSize(`${path}-wal`);
}

/** The suffixes of the files that SQLite and the owner of a database keep beside it. */
const DATABASE_FILE_SUFFIXES = ["", "-wal", "-shm", "-journal", "-lock"];

/** Removes the permissions of other users on the files of a database; returns what it changed. */
export function restrictToOwner(path: string): string[] {
  return DATABASE_FILE_SUFFIXES.flatMap((suffix) => restrictFile(path + suffix) ?? []);
}

function restrictFile(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A wrong setting can name a folder or a device; their mode is not changed.
  if (!stats?.isFile() || (stats.mode & 0o077) === 0) return undefined;
  const mode = stats.mode & 0o600;
  try {
    chmodSync(file, mode);
    return `${file} had mode ${formatMode(stats.mode)}, and has ${formatMode(mode)} now`;
  } catch (error) {
    const reason = `it belongs to user ${stats.uid}, and cannot be changed (${readSystemErrorCode(error)})`;
    return `${file} has mode ${formatMode(stats.mode)}: ${reason}`;
  }
}

const formatMode = (mode: number) => (mode & 0o777).toString(8).padStart(4, "0");
