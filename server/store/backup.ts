/** A copy of the database file, taken while it is in use. */
import { existsSync } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { resolve } from "node:path";
import { DomainError } from "../../core/errors.ts";
import { databaseFile, type Database } from "./database.ts";

/**
 * Copies the database, as it is at one instant, into a new file that only its owner can read.
 *
 * @param url The database's own URL.
 * @throws {DomainError} `Conflict` when the file exists; `Invalid Request` for a libSQL server.
 */
export async function backUp(
  database: Database,
  url: string,
  file: string,
): Promise<{ file: string; bytes: number }> {
  if (databaseFile(url) === undefined) {
    throw new DomainError(
      "Invalid Request",
      "A backup copies a database file; a libSQL server has its own",
    );
  }
  const target = resolve(file);
  if (existsSync(target)) throw new DomainError("Conflict", `${target} exists already`);
  await database.copyTo(target);
  await chmod(target, 0o600);
  const handle = await open(target, "r+");
  try {
    await handle.sync();
    return { file: target, bytes: (await handle.stat()).size };
  } finally {
    await handle.close();
  }
}
