/** The ID of a database in the names of its backups: databases can share BACKUP_FOLDER. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseFileUrl } from "../../store/database/open-database.ts";
import { parseServerUrl } from "../../store/database/remote/remote-connection.ts";

/** Enough to tell apart the databases that share a folder. */
const ID_LENGTH = 8;

/**
 * Hashes the real path of a database file, or the URL of a server without its token.
 *
 * @param url DATABASE_URL.
 * @returns 8 hexadecimal digits.
 */
export function hashDatabaseUrl(url: string): string {
  const file = parseFileUrl(url);
  const place = file === undefined ? new URL(parseServerUrl(url).httpUrl).href : findRealPath(file);
  return createHash("sha256").update(place).digest("hex").slice(0, ID_LENGTH);
}

/** Resolves links, also of the folder of a file that does not exist yet. */
function findRealPath(file: string): string {
  const path = resolve(file);
  const folder = dirname(path);
  return tryRealPath(path) ?? join(tryRealPath(folder) ?? folder, basename(path));
}

function tryRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
