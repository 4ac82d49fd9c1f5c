/** Whether the name of an open database file is still that of the file that was opened. */
import { LibsqlError } from "@libsql/client";
import { statSync } from "node:fs";

/**
 * Makes what throws once a file that is open was removed or replaced: what is written to it then is
 * lost, and a new connection would find another file, or make an empty one.
 */
export function createSameFileAssertion(path: string): () => void {
  const openedIdentity = readFileIdentity(path);
  return () => {
    if (readFileIdentity(path) === openedIdentity) return;
    const message = `${path} was removed or replaced while it is in use`;
    throw new LibsqlError(message, "SQLITE_READONLY_DBMOVED");
  };
}

function readFileIdentity(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino}`;
}
