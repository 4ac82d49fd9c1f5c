/** A copy of the database file, taken while it is in use. */
import { existsSync } from "node:fs";
import { link, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DomainError } from "../../../core/errors.ts";
import type { BackupResult } from "../../ports/process.ts";
import type { Database } from "./database.ts";
import { parseFileUrl } from "./database-file.ts";
import { toUnavailableError, mapTransientErrors } from "./errors.ts";
import { readSystemErrorCode } from "../../system-errors.ts";

/**
 * Copies the database, as it is at one instant, into a new file that only its owner can read.
 *
 * @param url The database's own URL.
 * @throws {DomainError} `Conflict` when the file exists; `Invalid Request` for a libSQL server.
 */
export async function backUp(database: Database, url: string, file: string): Promise<BackupResult> {
  if (parseFileUrl(url) === undefined) {
    throw new DomainError(
      "Invalid Request",
      "A backup copies a database file; a libSQL server has its own",
    );
  }
  const target = resolve(file);
  if (existsSync(target)) throw new DomainError("Conflict", `${target} exists already`);
  // Until it is whole it has another name: a part of a database can pass for one.
  const partialFile = `${target}.part`;
  await createPrivateFile(partialFile);
  try {
    return await mapTransientErrors(async () => {
      await database.copyTo(partialFile);
      const bytes = await syncPath(partialFile);
      await moveIntoPlace(partialFile, target);
      await syncPath(dirname(target));
      return { file: target, bytes };
    });
  } finally {
    for (const leftover of [partialFile, `${partialFile}-journal`])
      await rm(leftover, { force: true });
  }
}

/** Makes an empty file that nobody else can read. */
async function createPrivateFile(path: string): Promise<void> {
  try {
    await writeFile(path, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const messages: Readonly<Record<string, string>> = {
      EEXIST: `${path} exists already: a backup is under way, or was cut off; remove it if none is`,
      ENOENT: `The folder ${dirname(path)} is not there; make it, or name a file elsewhere`,
    };
    const unavailable = toUnavailableError(error);
    if (unavailable !== undefined) throw unavailable;
    throw new DomainError("Conflict", messages[readSystemErrorCode(error)] ?? error.message);
  }
}

/** What says that a file system has no links: that of many a stick, and of some networks. */
const HARD_LINKS_UNSUPPORTED = /^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/;

/** Gives a file its name, unless another has it by now. */
async function moveIntoPlace(part: string, target: string): Promise<void> {
  try {
    await link(part, target);
  } catch (error) {
    const code = readSystemErrorCode(error);
    if (code === "EEXIST") throw new DomainError("Conflict", `${target} exists already`);
    if (!HARD_LINKS_UNSUPPORTED.test(code)) throw error;
    if (existsSync(target)) throw new DomainError("Conflict", `${target} exists already`);
    await rename(part, target);
  }
}

/** Waits until a file or folder is on the disk; gives its size in bytes. */
async function syncPath(path: string): Promise<number> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}
