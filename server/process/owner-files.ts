/**
 * The lock, the process ID and the socket beside a database file. A process checks the file and
 * owns it by the lock; other processes send requests to the owner through the socket. A suspended
 * owner accepts connections and never answers, so every wait has a deadline.
 */
import { Database as Lock } from "bun:sqlite";
import fs from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../core/errors.ts";
import type { AdminConnection } from "../commands/command.ts";
import type { OwnerDescription } from "../http/admin/routes.ts";
import { readSystemErrorCode } from "../system-errors.ts";

const getPidFilePath = (file: string) => `${file}-owner`;

/**
 * Locks a file until the process ends, unless it is no database. @returns Unlocks it; `undefined`
 * if it has an owner.
 */
export function tryLockDatabase(file: string): (() => void) | undefined {
  makeFolder(file);
  assertDatabaseFile(file);
  return tryLockFile(file);
}

function makeFolder(file: string): void {
  const folder = dirname(resolve(file));
  orThrow(
    `The folder of the database, ${folder}, cannot be made; make it yourself, or set ` +
      "DATABASE_URL to a file elsewhere",
    () => fs.mkdirSync(folder, { recursive: true }),
  );
}

/** Locks a file until the process ends, whatever is in it. */
export function tryLockFile(file: string): (() => void) | undefined {
  makeFolder(file);
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
    fs.writeFileSync(getPidFilePath(file), String(process.pid), { mode: 0o600 });
  } catch {
    // A full disk must not prevent the start: the messages of other processes then name no process.
  }
  return () => {
    fs.rmSync(getPidFilePath(file), { force: true });
    lock.close();
  };
}

/** Returns the ID of the process that owns a file, if it runs: a killed owner leaves its ID. */
export function readOwnerPid(file: string): number | undefined {
  try {
    const pid = Number(fs.readFileSync(getPidFilePath(file), "utf8"));
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** Checks early that a file is writable: SQLite opens it anyway, and fails at the first debit. */
export function assertWritable(file: string): void {
  if (!fs.existsSync(file)) return;
  orThrow(`${file} cannot be written`, () => fs.accessSync(file, fs.constants.W_OK));
}

function orThrow<Result>(message: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new DomainError("Internal Error", message, { cause });
  }
}

const SQLITE_HEADER = "SQLite format 3\0";

/** Checks a file before anything is changed: a wrong setting can name any file. */
function assertDatabaseFile(file: string): void {
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isFile() && (stats.size === 0 || isDatabaseFile(file))) return;
  const message = stats.isDirectory()
    ? `${file} is a folder; set DATABASE_URL to a file in it: file:${join(file, "metrics.db")}`
    : `${file} is not a database; set DATABASE_URL to a database of this service, or to a new file`;
  throw new DomainError("Internal Error", message);
}

/** Whether a file begins as databases do. */
export const isDatabaseFile = (file: string): boolean => readHeader(file) === SQLITE_HEADER;

function readHeader(file: string): string {
  const header = Buffer.alloc(SQLITE_HEADER.length);
  const descriptor = orThrow(`${file} cannot be read`, () => fs.openSync(file, "r"));
  try {
    fs.readSync(descriptor, header);
  } finally {
    fs.closeSync(descriptor);
  }
  return header.toString("latin1");
}

/** How long an owner may be silent before requests to it fail. */
const OWNER_TIMEOUT_MS = 10_000;

const PROBE_INTERVAL_MS = 1000;

/** Deadlines are counted in these steps: while a command is suspended, no time passes for it. */
const TIMER_STEP_MS = 250;

/** The longest path of a unix socket that every platform supports. */
const SOCKET_PATH_MAX_BYTES = 103;

export function resolveSocketPath(file: string): string {
  const absolutePath = resolve(`${file}-socket`);
  const relativePath = relative(process.cwd(), absolutePath);
  const path = relativePath.length < absolutePath.length ? relativePath : absolutePath;
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX_BYTES) return path;
  throw new DomainError(
    "Invalid Request",
    `The path of the database is too long for a socket beside it: ${path} has more than ` +
      `${SOCKET_PATH_MAX_BYTES} bytes`,
  );
}

/** Asks the owner to describe itself; `undefined` if none runs. @throws {DomainError} If silent. */
export async function probeOwner(
  file: string,
  cancelSignal = new AbortController().signal,
): Promise<OwnerDescription | undefined> {
  const timeoutController = new AbortController();
  const signal = AbortSignal.any([timeoutController.signal, cancelSignal]);
  const describe = async () => {
    const response = await sendToOwner(file, "http://localhost/admin/owner", { signal });
    return response.ok ? JSON.parse(await response.text()) : undefined;
  };
  const answered = describe().then(
    (owner: OwnerDescription | undefined) => ({ owner }),
    () => ({ owner: undefined }),
  );
  for (let waitedMs = 0; waitedMs < OWNER_TIMEOUT_MS; waitedMs += TIMER_STEP_MS) {
    const answer = await Promise.race([answered, sleep(TIMER_STEP_MS, undefined, { ref: false })]);
    if (answer !== undefined) return answer.owner;
  }
  timeoutController.abort();
  throw createOwnerTimeoutError(file);
}

/** Connects to the owner. Requests have no time limit, but fail once the owner is silent. */
export function connectToOwner(file: string): AdminConnection {
  const closeController = new AbortController();
  const timeoutController = new AbortController();
  void monitorOwner(file, closeController.signal, timeoutController);
  return {
    fetcher: (url, init) => sendToOwner(file, url, { ...init, signal: timeoutController.signal }),
    isInProcess: false,
    close: async () => closeController.abort(),
  };
}

/** Probes the owner until the connection closes; aborts its requests when the owner is silent. */
async function monitorOwner(
  file: string,
  closeSignal: AbortSignal,
  timeoutController: AbortController,
): Promise<void> {
  try {
    while (!closeSignal.aborted) {
      await sleep(PROBE_INTERVAL_MS, undefined, { ref: false, signal: closeSignal });
      await probeOwner(file, closeSignal);
    }
  } catch (error) {
    if (closeSignal.aborted || !(error instanceof DomainError)) return;
    const message = `${error.message}. What was asked of it may be done once it goes on`;
    timeoutController.abort(new DomainError(error.code, message));
  }
}

/** Sends a request on a new connection: a reused one hides whether the owner got the request. */
const sendToOwner = (file: string, url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, unix: resolveSocketPath(file), keepalive: false });

/** Creates the error for work that needs a database file which another process owns. */
export function createOwnedError(
  file: string,
  { pid, verb, address, since }: OwnerDescription,
): DomainError {
  const use =
    address === null
      ? `in use by process ${pid} (${verb})`
      : `served by process ${pid} at ${address}`;
  return new DomainError("Conflict", `${file} is ${use} since ${since}`);
}

export function createOwnerTimeoutError(file: string): DomainError {
  const pid = readOwnerPid(file);
  const silence = `did not answer for ${OWNER_TIMEOUT_MS / 1000} seconds`;
  const message =
    pid === undefined
      ? `${file} is owned by a process that ${silence}. Resume or end it, then try again`
      : `Process ${pid} owns ${file} and ${silence}. Resume it with "kill -CONT ${pid}" if it is ` +
        `suspended, or end it with "kill -KILL ${pid}", then try again`;
  return new DomainError("Service Unavailable", message);
}
