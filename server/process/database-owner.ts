/**
 * One process owns a database file. Who owns it answers on a socket beside it, so that every verb
 * works while a service runs: through the owner where there is one, in process where there is none.
 */
import { Database as Lock } from "bun:sqlite";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DomainError } from "../../core/errors.ts";
import type { AdminConnection, Fetcher } from "../ports/process.ts";
import { redactUrl } from "../config.ts";
import { drain, waitUntilIdle } from "./graceful-shutdown.ts";
import {
  probeOwner,
  connectToOwner,
  OWNER_TIMEOUT_MS,
  resolvePidFilePath,
  createOwnerTimeoutError,
  resolveSocketPath,
} from "./owner-client.ts";
import { openService, type Service, type ServiceOptions } from "../service.ts";
import { parseFileUrl, restrictToOwner } from "../store/database/database-file.ts";
import { readSystemErrorCode } from "../system-errors.ts";

/** A database that this process owns. */
export interface Ownership extends AdminConnection {
  readonly service: Service;
  /** @param timeoutMs How long other verbs and what is under way may take to finish. */
  close(timeoutMs?: number): Promise<void>;
}

/** One of a file, whose owner the other verbs ask. */
interface FileOwnership extends Ownership {
  readonly socket: ReturnType<typeof serveSocket>;
}

/** How long to wait for an owner that comes or goes. */
const HANDOVER_TIMEOUT_MS = 10_000;

/** How long who found the socket of an owner may take to come in before it refuses. */
const ACCEPT_GRACE_MS = 50;

/**
 * Opens the database through its owner, or becomes the owner while there is none. A libSQL server
 * has no owner: it is shared.
 *
 * @throws {DomainError} `Service Unavailable` when the owner does not answer.
 */
export async function connectToDatabase(options: ServiceOptions): Promise<AdminConnection> {
  const file = resolveDatabaseFile(options);
  if (file === undefined) return acquireOwnership(options);
  let connection = await acquireOrConnect(options, file);
  return {
    isInProcess: connection.isInProcess,
    // An owner may end between two requests, as an import beside a short verb does, and so may
    // the one that comes after it.
    async fetcher(url, init) {
      for (const deadline = Date.now() + HANDOVER_TIMEOUT_MS; ;) {
        try {
          return await connection.fetcher(url, init);
        } catch (error) {
          if (!isConnectError(error) || Date.now() > deadline) throw error;
          await connection.close();
          connection = await acquireOrConnect(options, file);
        }
      }
    },
    close: () => connection.close(),
  };
}

async function acquireOrConnect(options: ServiceOptions, file: string): Promise<AdminConnection> {
  for (const deadline = Date.now() + HANDOVER_TIMEOUT_MS; ;) {
    const ownership = await tryAcquireOwnership(options, file);
    if (ownership !== undefined) return closeWhenIdle(ownership);
    if ((await probeOwner(file, OWNER_TIMEOUT_MS)) !== undefined) return connectToOwner(file);
    if (Date.now() > deadline) throw createOwnerTimeoutError(file);
    await Bun.sleep(50);
  }
}

/** A verb that is done stays for those that came through it meanwhile. */
function closeWhenIdle(ownership: FileOwnership): AdminConnection {
  const close = async () => {
    await waitUntilIdle(ownership.socket);
    await ownership.close();
  };
  return { ...ownership, close };
}

/** Whether a request never left, so that it can be sent again without being done twice. */
function isConnectError(error: unknown): boolean {
  return ["ENOENT", "ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"].includes(
    readSystemErrorCode(error),
  );
}

/**
 * Becomes the owner of the database, to write it.
 *
 * @throws {DomainError} `Conflict`, saying who has it.
 */
export async function acquireOwnership(options: ServiceOptions): Promise<Ownership> {
  const file = resolveDatabaseFile(options);
  if (file === undefined) {
    const service = await openRemoteService(options);
    return {
      service,
      fetcher: createInProcessFetcher(service),
      isInProcess: true,
      close: service.close,
    };
  }
  assertWritable(file);
  for (const deadline = Date.now() + HANDOVER_TIMEOUT_MS; ;) {
    const ownership = await tryAcquireOwnership(options, file);
    if (ownership !== undefined) return ownership;
    const owner = await probeOwner(file, OWNER_TIMEOUT_MS);
    if (owner?.address != null) {
      throw new DomainError(
        "Conflict",
        `${file} is served by process ${owner.pid} at ${owner.address} since ${owner.since}`,
      );
    }
    if (Date.now() > deadline) {
      if (owner === undefined) throw createOwnerTimeoutError(file);
      throw new DomainError(
        "Conflict",
        `${file} is in use by process ${owner.pid} (${owner.verb}) since ${owner.since}`,
      );
    }
    await Bun.sleep(50);
  }
}

/** @throws {DomainError} Naming the server, where it is away. */
async function openRemoteService(options: ServiceOptions): Promise<Service> {
  try {
    return await openService(options);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== "Service Unavailable") throw error;
    const server = redactUrl(options.config.databaseUrl);
    throw new DomainError(error.code, `Waited for the database server ${server} in vain`, {
      cause: error,
    });
  }
}

/** A file that may only be read opens all the same, and fails at the first debit. */
function assertWritable(file: string): void {
  if (!existsSync(file)) return;
  try {
    accessSync(file, constants.W_OK);
  } catch (cause) {
    throw new DomainError("Internal Error", `${file} cannot be written`, { cause });
  }
}

/** Makes the folder of a database file, unless it is there. */
function createDatabaseFolder(file: string): void {
  const folder = dirname(resolve(file));
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new DomainError(
      "Internal Error",
      `The folder of the database, ${folder}, cannot be made; make it yourself, or set ` +
        "DATABASE_URL to a file elsewhere",
      { cause },
    );
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new DomainError(
      "Internal Error",
      `${file} is a folder; set DATABASE_URL to a file in it: file:${join(file, "metrics.db")}`,
    );
  }
}

async function tryAcquireOwnership(
  options: ServiceOptions,
  file: string,
): Promise<FileOwnership | undefined> {
  createDatabaseFolder(file);
  const unlock = tryLock(`${file}-lock`);
  if (unlock === undefined) return undefined;
  const release = () => {
    rmSync(resolvePidFilePath(file), { force: true });
    unlock();
  };
  try {
    const files = restrictToOwner(file).join("; ");
    if (files !== "")
      options.log?.warning?.("Other users could use the database: {files}", { files });
    writePidFile(file);
    const service = await openService(options);
    const path = resolveSocketPath(file);
    rmSync(path, { force: true });
    const socket = serveSocket(path, service);
    return {
      service,
      socket,
      fetcher: createInProcessFetcher(service),
      isInProcess: true,
      async close(timeoutMs = HANDOVER_TIMEOUT_MS) {
        const deadline = Date.now() + timeoutMs;
        // Who finds no socket looks again; who found it is let in first, and answered.
        rmSync(path, { force: true });
        await Bun.sleep(ACCEPT_GRACE_MS);
        await drain(socket, timeoutMs);
        await service.close(deadline - Date.now());
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Leaves this process's number beside the file, for those whom it may not answer one day. */
function writePidFile(file: string): void {
  try {
    writeFileSync(resolvePidFilePath(file), String(process.pid), { mode: 0o600 });
  } catch {
    // A full disk is no reason not to start: without the note a message names no process.
  }
}

/** The file by its own name: who comes to it by a link must find its lock and its socket too. */
function resolveDatabaseFile({ config }: ServiceOptions): string | undefined {
  const file = parseFileUrl(config.databaseUrl);
  return file !== undefined && existsSync(file) ? realpathSync(file) : file;
}

/** Takes a lock that ends with the process, however that ends. */
function tryLock(path: string): (() => void) | undefined {
  const lock = openLockFile(path);
  try {
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (readSystemErrorCode(error) === "SQLITE_BUSY") return undefined;
    throw error;
  }
}

function openLockFile(path: string): Lock {
  try {
    return new Lock(path);
  } catch (cause) {
    throw new DomainError("Internal Error", `${path} cannot be opened`, { cause });
  }
}

/** Some verbs work for minutes before they answer. Bun takes it for sockets too, its types don't. */
const NO_IDLE_TIMEOUT: object = { idleTimeout: 0 };

function serveSocket(path: string, service: Service) {
  const socket = Bun.serve({
    unix: path,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // Bodies are counted where they are read.
    ...NO_IDLE_TIMEOUT,
    fetch: service.owner.fetch,
  });
  chmodSync(path, 0o600);
  return socket;
}

function createInProcessFetcher(service: Service): Fetcher {
  return async (url, init) => service.owner.handle(new Request(url, init));
}
