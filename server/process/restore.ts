/**
 * Replaces the database file by a backup, which is checked first. The replaced file stays beside
 * it. Whenever this ends, the database is wholly the old one or wholly the new one: a rename
 * replaces one by the other.
 */
import { copyFile, link, rename, rm, chmod, chown, stat } from "node:fs/promises";
import { existsSync, lstatSync, statSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DomainError } from "../../core/errors.ts";
import { formatInstant } from "../../core/time.ts";
import { createReadError, type RestoreReport } from "../commands/command.ts";
import { checkBackup } from "../composition/backups/check-backup.ts";
import { ConfigError, type Config } from "../config.ts";
import { redactUrl } from "../settings.ts";
import { readCounts } from "../store/administration/counts.ts";
import { syncPath } from "../store/database/backup/backup.ts";
import {
  createFileReads,
  runOnScratchFile,
  withScratchFolder,
} from "../store/database/backup/scratch-files.ts";
import { openDatabase } from "../store/database/open-database.ts";
import { KNOWN_VERSIONS } from "../store/database/tables-version.ts";
import { addAdvice, readSystemErrorCode } from "../system-errors.ts";
import { resolveDatabaseFile } from "./database-owner.ts";
import {
  createOwnedError,
  createOwnerTimeoutError,
  isDatabaseFile,
  probeOwner,
  tryLockFile,
} from "./owner-files.ts";

/** How long it waits for a command that uses the database. */
const LOCK_TIMEOUT_MS = 10_000;
const LOCK_POLL_MS = 50;

/** @throws {DomainError} `Conflict`, if the backup is not good, or a process uses the database. */
export async function restoreDatabase(config: Config, backup: string): Promise<RestoreReport> {
  const file = resolveDatabaseFile({ config });
  if (file === undefined) throw createServerError(config);
  if (isDanglingLink(file)) {
    const message = `${file} is a link to a file that does not exist; mount its volume, or remove it`;
    throw new DomainError("Conflict", message);
  }
  await checkSource(backup, file);
  const unlock = await lockFile(file);
  try {
    return await replaceLocked(resolve(backup), resolve(file));
  } finally {
    unlock();
  }
}

const isDanglingLink = (file: string): boolean =>
  lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true && !existsSync(file);

function createServerError({ databaseUrl }: Config): ConfigError {
  return new ConfigError(
    `restore replaces a database file, and DATABASE_URL is ${redactUrl(databaseUrl)}: stop the ` +
      'services and the server, then copy the backup into a new folder of the server, as "Back up ' +
      'and restore a server" in server/LIBSQL.md says',
  );
}

/** The folder of the copy while it is checked. */
const getScratchFolder = (file: string) => `${resolve(file)}.restore-scratch`;

async function checkSource(backup: string, file: string): Promise<void> {
  const folder = getScratchFolder(file);
  if (`${resolve(backup)}/`.startsWith(`${folder}/`)) {
    const message = `${backup} is where an earlier restore left its copy; move it elsewhere`;
    throw new DomainError("Conflict", message);
  }
  try {
    const source = await stat(backup);
    // A pipe can keep its reader waiting without end.
    if (!source.isFile() && !source.isDirectory()) {
      throw new DomainError("Conflict", `${backup} is no file; name a backup`);
    }
    const target = statSync(file, { throwIfNoEntry: false });
    if (source.ino === target?.ino && source.dev === target.dev) {
      throw new DomainError("Conflict", `${backup} is the database itself; name a backup`);
    }
    if (isDatabaseFile(backup)) return;
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw createReadError(backup, error);
  }
  throw new DomainError("Conflict", `${backup} is not a database; name a backup`);
}

/** Locks the database. @throws {DomainError} `Conflict`, naming the process that serves it. */
async function lockFile(file: string): Promise<() => void> {
  for (const deadline = Date.now() + LOCK_TIMEOUT_MS; ; await Bun.sleep(LOCK_POLL_MS)) {
    const unlock = tryLockFile(file);
    if (unlock !== undefined) return unlock;
    const owner = await probeOwner(file);
    // A command may end in a moment; a service goes on.
    const isOver = Date.now() > deadline || (owner !== undefined && owner.address !== null);
    if (!isOver) continue;
    if (owner === undefined) throw createOwnerTimeoutError(file);
    throw addAdvice(createOwnedError(file, owner), "stop it, then restore again");
  }
}

function replaceLocked(backup: string, file: string): Promise<RestoreReport> {
  const folder = getScratchFolder(file);
  return withScratchFolder(folder, async () => {
    const copy = join(folder, "metrics.db");
    const restored = await copyChecked(backup, copy);
    const old = statSync(file, { throwIfNoEntry: false });
    if (old?.isFile() === false) {
      throw new DomainError("Conflict", `${file} is no file; set DATABASE_URL to one`);
    }
    await giveToOwner(copy, file, old);
    await syncPath(copy);
    const replaced = old && (await readCounts(toPair(file)).catch(() => null));
    const kept = old && (await keepOld(file));
    await rename(copy, file);
    await syncPath(dirname(file));
    return { file, restored, replaced: replaced ?? null, kept: kept ?? null };
  });
}

const toPair = (file: string) => {
  const reads = createFileReads(file);
  return { ledger: reads, entities: reads };
};

/** Copies a backup, and a write-ahead log beside it, as that of a replaced file; checks the copy. */
async function copyChecked(backup: string, copy: string) {
  for (const suffix of hasLog(backup) ? ["", "-wal"] : [""]) {
    await copyFile(backup + suffix, copy + suffix);
    // The copy has the mode of the backup, which may be read-only.
    await chmod(copy + suffix, 0o600);
  }
  try {
    return await checkBackup(copy, async (versions) => {
      if (versions.size === KNOWN_VERSIONS.size && !hasLog(copy)) return;
      // Brings tables of an earlier version up to date, and moves the log into the file.
      await (await openDatabase({ url: toFileUrl(copy), durability: "power" })).close();
      if (hasLog(copy)) throw new Error("Its write-ahead log could not be moved into the file");
    });
  } catch (cause) {
    const message = `${backup} is not restored, and nothing was changed`;
    throw addAdvice(new DomainError("Conflict", message, { cause }), "name another backup");
  }
}

const hasLog = (file: string) =>
  (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

const toFileUrl = (file: string) =>
  `file:${file.replace(/[%?#]/g, (character) => encodeURIComponent(character))}`;

/** Lets the user use the restored file who could use the old one: root may restore for a service. */
async function giveToOwner(copy: string, file: string, old: Stats | undefined): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = old ?? statSync(dirname(file));
  await chown(copy, uid, gid);
  await chown(`${file}-lock`, uid, gid);
}

/**
 * Keeps the old database under a dated name, too. Its changes are first moved from its write-ahead
 * log into the file: a log that stayed behind would be applied to the restored one.
 */
async function keepOld(file: string): Promise<string> {
  await foldLog(file);
  const kept = `${file}.replaced-${formatInstant(Date.now()).replaceAll(":", "")}`;
  await linkOrCopy(file, kept);
  await syncPath(kept);
  // Only a damaged database still has these files. They are part of it.
  for (const suffix of ["-wal", "-journal"]) {
    if (existsSync(file + suffix)) await rename(file + suffix, kept + suffix);
  }
  await rm(`${file}-shm`, { force: true });
  await syncPath(dirname(file));
  return kept;
}

async function foldLog(file: string): Promise<void> {
  try {
    if (hasLog(file) || existsSync(`${file}-journal`)) {
      await runOnScratchFile({ file, statements: [] });
    }
    if (!hasLog(file)) await rm(`${file}-wal`, { force: true });
  } catch (error) {
    if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(readSystemErrorCode(error))) return;
    throw error;
  }
}

async function linkOrCopy(file: string, target: string): Promise<void> {
  try {
    await link(file, target);
  } catch (error) {
    // Some file systems have no links.
    if (readSystemErrorCode(error) === "EEXIST") throw error;
    await copyFile(file, target);
  }
}
