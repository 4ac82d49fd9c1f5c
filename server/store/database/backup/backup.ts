/** Backs up the database while it is in use: into a new file, which is complete or absent. */
import { existsSync } from "node:fs";
import { link, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DomainError } from "../../../../core/errors.ts";
import { describeError, readSystemErrorCode } from "../../../system-errors.ts";
import type { Database } from "../database.ts";
import { mapTransientErrors, toUnavailableError } from "../errors.ts";
import { copyMerged } from "./merged-copy.ts";

/**
 * Copies the database into a new file that only its owner can read. Each database is copied as it
 * is at one instant, the ledger first, if there are two.
 *
 * @param check Checks the copy, under a temporary name; if it throws, there is no new file.
 */
export async function backUp(
  { ledger, entities }: Readonly<Record<"ledger" | "entities", Pick<Database, "copyTo">>>,
  file: string,
  check: (copy: string) => Promise<void> = async () => undefined,
) {
  const target = resolve(file);
  if (existsSync(target)) throw createFileExistsError(target);
  // An incomplete copy has another name, because a part of a database can look like a whole one.
  const partialFile = `${target}.part`;
  await createPrivateFile(partialFile);
  try {
    return await mapTransientErrors(async () => {
      if (entities === ledger) await ledger.copyTo(partialFile);
      else await copyMerged({ ledger, entities }, partialFile);
      const bytes = await syncPath(partialFile);
      await check(partialFile);
      await renameToNew(partialFile, target);
      await syncPath(dirname(target));
      return { file: target, bytes };
    });
  } finally {
    await rm(partialFile, { force: true });
    await rm(`${partialFile}-journal`, { force: true });
  }
}

function createFileExistsError(file: string): DomainError {
  return new DomainError("Conflict", `${file} already exists; name a new file`);
}

async function createPrivateFile(path: string): Promise<void> {
  const messages: Readonly<Record<string, string>> = {
    EEXIST: `${path} already exists: a backup is running, or one was cut off; remove the file if none is running`,
    ENOENT: `The folder ${dirname(path)} does not exist; create it, or name a file elsewhere`,
  };
  try {
    await writeFile(path, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    const message = messages[readSystemErrorCode(error)];
    if (message !== undefined) throw new DomainError("Conflict", message);
    throw (
      toUnavailableError(error) ??
      new DomainError("Conflict", describeError(error), { cause: error })
    );
  }
}

/** The errors of file systems without hard links, such as those of many USB sticks. */
const HARD_LINKS_UNSUPPORTED = /^(?:EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/;

/** Renames a file, unless the new name is taken. */
async function renameToNew(path: string, target: string): Promise<void> {
  try {
    await link(path, target);
  } catch (error) {
    const code = readSystemErrorCode(error);
    if (code === "EEXIST") throw createFileExistsError(target);
    if (!HARD_LINKS_UNSUPPORTED.test(code)) throw error;
    if (existsSync(target)) throw createFileExistsError(target);
    await rename(path, target);
  }
}

/** Waits until a file or folder is on the disk; resolves to its size in bytes. */
export async function syncPath(path: string): Promise<number> {
  await using handle = await open(path, "r");
  await handle.sync();
  return (await handle.stat()).size;
}
