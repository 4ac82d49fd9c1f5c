/** Files beside a database file that say which process owns it: a lock and its process ID. */
import { Database as Lock } from "bun:sqlite";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DomainError } from "../../core/errors.ts";
import { readSystemErrorCode } from "../system-errors.ts";

const getPidFilePath = (file: string) => `${file}-owner`;

/** Locks a file until the process ends. @returns Unlocks it; `undefined` if another process has it. */
export function tryLockDatabase(file: string): (() => void) | undefined {
  const folder = dirname(resolve(file));
  orThrow(
    `The folder of the database, ${folder}, cannot be made; make it yourself, or set ` +
      "DATABASE_URL to a file elsewhere",
    () => mkdirSync(folder, { recursive: true }),
  );
  assertDatabaseFile(file);
  const path = `${file}-lock`;
  const lock = orThrow(
    `${path} cannot be opened; make its folder writable for you, or set DATABASE_URL to a file elsewhere`,
    () => new Lock(path),
  );
  try {
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (readSystemErrorCode(error) === "SQLITE_BUSY") return undefined;
    throw error;
  }
  try {
    writeFileSync(getPidFilePath(file), String(process.pid), { mode: 0o600 });
  } catch {
    // A full disk must not prevent the start: the messages of other processes then name no process.
  }
  return () => {
    rmSync(getPidFilePath(file), { force: true });
    lock.close();
  };
}

/** Returns the process that owns a file, if it runs: a kill leaves its process ID behind. */
export function readOwnerPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(getPidFilePath(file), "utf8"));
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** Checks before the start: SQLite opens a read-only file, and fails at the first debit. */
export function assertWritable(file: string): void {
  if (!existsSync(file)) return;
  orThrow(`${file} cannot be written`, () => accessSync(file, constants.W_OK));
}

/** Returns the result of `work`, or throws a {@link DomainError} with the message. */
function orThrow<Result>(message: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new DomainError("Internal Error", message, { cause });
  }
}

/** The first bytes of every SQLite file that is not empty. */
const SQLITE_HEADER = "SQLite format 3\0";

/** Checks a file before anything is changed: a wrong setting can name any file. */
function assertDatabaseFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isFile() && (stats.size === 0 || readHeader(file) === SQLITE_HEADER)) return;
  const message = stats.isDirectory()
    ? `${file} is a folder; set DATABASE_URL to a file in it: file:${join(file, "metrics.db")}`
    : `${file} is not a database; set DATABASE_URL to a database of this service, or to a new file`;
  throw new DomainError("Internal Error", message);
}

function readHeader(file: string): string {
  const header = Buffer.alloc(SQLITE_HEADER.length);
  const descriptor = orThrow(`${file} cannot be read`, () => openSync(file, "r"));
  try {
    readSync(descriptor, header);
  } finally {
    closeSync(descriptor);
  }
  return header.toString("latin1");
}
