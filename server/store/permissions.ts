/** The permissions of a database file and of the files beside it: only their owner may use them. */
import { chmodSync, statSync } from "node:fs";
import { systemCodeOf } from "../../core/errors.ts";

/** What SQLite and the process that owns a database keep beside its file. */
const SUFFIXES = ["", "-wal", "-shm", "-journal", "-lock"];

/** What the group and all other users may do with a file. */
const OTHERS = 0o077;

/**
 * Takes from other users what they may do with the files of a database.
 *
 * @returns A phrase on each file that others could use: its mode before, and now.
 */
export function restrictToOwner(path: string): string[] {
  return SUFFIXES.flatMap((suffix) => restrict(path + suffix) ?? []);
}

function restrict(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  // A folder or a device that a wrong setting names is not ours to change.
  if (!found?.isFile() || (found.mode & OTHERS) === 0) return undefined;
  const mode = found.mode & 0o600;
  try {
    chmodSync(file, mode);
    return `${file} had mode ${asOctal(found.mode)}, and has ${asOctal(mode)} now`;
  } catch (error) {
    const why = `it belongs to user ${found.uid}, and cannot be changed (${systemCodeOf(error)})`;
    return `${file} has mode ${asOctal(found.mode)}: ${why}`;
  }
}

function asOctal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
