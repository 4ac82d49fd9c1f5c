/** Whether the name of an open database file is still that of the file that was opened. */
import { LibsqlError } from "@libsql/client";
import { statSync } from "node:fs";

/**
 * Makes what throws once a file that is open was removed or replaced: what is written to it then is
 * lost, and a new connection would find another file, or make an empty one.
 */
export function holdToFile(path: string): () => void {
  const opened = identityOf(path);
  return () => {
    if (identityOf(path) === opened) return;
    const sentence = `${path} was removed or replaced while it is in use`;
    throw new LibsqlError(sentence, "SQLITE_READONLY_DBMOVED");
  };
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino}`;
}
