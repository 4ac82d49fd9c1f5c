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
import { DomainError, systemCodeOf } from "../core/errors.ts";
import type { Connection, Fetcher } from "./commands/client.ts";
import { withoutSecrets } from "./config.ts";
import { drain, idle } from "./drain.ts";
import {
  askOwner,
  connectToOwner,
  OWNER_DEADLINE_MS,
  ownerPath,
  silentOwner,
  socketPath,
} from "./owner-contact.ts";
import { openService, type Service, type ServiceOptions } from "./service.ts";
import { databaseFile } from "./store/database.ts";
import { restrictToOwner } from "./store/permissions.ts";

/** A database that this process owns. */
export interface Ownership extends Connection {
  readonly service: Service;
  /** @param limitMs How long other verbs and what is under way may take to finish. */
  close(limitMs?: number): Promise<void>;
}

/** One of a file, whose owner the other verbs ask. */
interface Owned extends Ownership {
  readonly socket: ReturnType<typeof serveSocket>;
}

/** How long to wait for an owner that comes or goes. */
const TURNOVER_MS = 10_000;

/** How long who found the socket of an owner may take to come in before it refuses. */
const LET_IN_MS = 50;

/**
 * Opens the database through its owner, or becomes the owner while there is none. A libSQL server
 * has no owner: it is shared.
 *
 * @throws {DomainError} `Service Unavailable` when the owner does not answer.
 */
export async function connect(options: ServiceOptions): Promise<Connection> {
  const file = ownedFile(options);
  if (file === undefined) return own(options);
  let current = await reach(options, file);
  return {
    isInProcess: current.isInProcess,
    // An owner may end between two requests, as an import beside a short verb does, and so may
    // the one that comes after it.
    async fetcher(url, init) {
      for (const deadline = Date.now() + TURNOVER_MS; ;) {
        try {
          return await current.fetcher(url, init);
        } catch (error) {
          if (!isUnreached(error) || Date.now() > deadline) throw error;
          await current.close();
          current = await reach(options, file);
        }
      }
    },
    close: () => current.close(),
  };
}

async function reach(options: ServiceOptions, file: string): Promise<Connection> {
  for (const deadline = Date.now() + TURNOVER_MS; ;) {
    const ownership = await tryOwn(options, file);
    if (ownership !== undefined) return untilIdle(ownership);
    if ((await askOwner(file, OWNER_DEADLINE_MS)) !== undefined) return connectToOwner(file);
    if (Date.now() > deadline) throw silentOwner(file);
    await Bun.sleep(50);
  }
}

/** A verb that is done stays for those that came through it meanwhile. */
function untilIdle(ownership: Owned): Connection {
  const close = async () => {
    await idle(ownership.socket);
    await ownership.close();
  };
  return { ...ownership, close };
}

/** Whether a request never left, so that it can be sent again without being done twice. */
function isUnreached(error: unknown): boolean {
  return ["ENOENT", "ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"].includes(
    systemCodeOf(error),
  );
}

/**
 * Becomes the owner of the database, to write it.
 *
 * @throws {DomainError} `Conflict`, saying who has it.
 */
export async function own(options: ServiceOptions): Promise<Ownership> {
  const file = ownedFile(options);
  if (file === undefined) {
    const service = await openOnServer(options);
    return { service, fetcher: inProcess(service), isInProcess: true, close: service.close };
  }
  requireWritable(file);
  for (const deadline = Date.now() + TURNOVER_MS; ;) {
    const ownership = await tryOwn(options, file);
    if (ownership !== undefined) return ownership;
    const owner = await askOwner(file, OWNER_DEADLINE_MS);
    if (owner?.address != null) {
      throw new DomainError(
        "Conflict",
        `${file} is served by process ${owner.pid} at ${owner.address} since ${owner.since}`,
      );
    }
    if (Date.now() > deadline) {
      if (owner === undefined) throw silentOwner(file);
      throw new DomainError(
        "Conflict",
        `${file} is in use by process ${owner.pid} (${owner.verb}) since ${owner.since}`,
      );
    }
    await Bun.sleep(50);
  }
}

/** @throws {DomainError} Naming the server, where it is away. */
async function openOnServer(options: ServiceOptions): Promise<Service> {
  try {
    return await openService(options);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== "Service Unavailable") throw error;
    const server = withoutSecrets(options.config.databaseUrl);
    throw new DomainError(error.code, `Waited for the database server ${server} in vain`, {
      cause: error,
    });
  }
}

/** A file that may only be read opens all the same, and fails at the first debit. */
function requireWritable(file: string): void {
  if (!existsSync(file)) return;
  try {
    accessSync(file, constants.W_OK);
  } catch (cause) {
    throw new DomainError("Internal Error", `${file} cannot be written`, { cause });
  }
}

/** Makes the folder of a database file, unless it is there. */
function prepareFolder(file: string): void {
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

async function tryOwn(options: ServiceOptions, file: string): Promise<Owned | undefined> {
  prepareFolder(file);
  const release = tryLock(`${file}-lock`);
  if (release === undefined) return undefined;
  const leave = () => {
    rmSync(ownerPath(file), { force: true });
    release();
  };
  try {
    const files = restrictToOwner(file).join("; ");
    if (files !== "")
      options.log?.warning?.("Other users could use the database: {files}", { files });
    noteOwner(file);
    const service = await openService(options);
    const path = socketPath(file);
    rmSync(path, { force: true });
    const socket = serveSocket(path, service);
    return {
      service,
      socket,
      fetcher: inProcess(service),
      isInProcess: true,
      async close(limitMs = TURNOVER_MS) {
        const end = Date.now() + limitMs;
        // Who finds no socket looks again; who found it is let in first, and answered.
        rmSync(path, { force: true });
        await Bun.sleep(LET_IN_MS);
        await drain(socket, limitMs);
        await service.close(end - Date.now());
        leave();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Leaves this process's number beside the file, for those whom it may not answer one day. */
function noteOwner(file: string): void {
  try {
    writeFileSync(ownerPath(file), String(process.pid), { mode: 0o600 });
  } catch {
    // A full disk is no reason not to start: without the note a message names no process.
  }
}

/** The file by its own name: who comes to it by a link must find its lock and its socket too. */
function ownedFile({ config }: ServiceOptions): string | undefined {
  const file = databaseFile(config.databaseUrl);
  return file !== undefined && existsSync(file) ? realpathSync(file) : file;
}

/** Takes a lock that ends with the process, however that ends. */
function tryLock(path: string): (() => void) | undefined {
  const lock = openLock(path);
  try {
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (systemCodeOf(error) === "SQLITE_BUSY") return undefined;
    throw error;
  }
}

function openLock(path: string): Lock {
  try {
    return new Lock(path);
  } catch (cause) {
    throw new DomainError("Internal Error", `${path} cannot be opened`, { cause });
  }
}

/** Some verbs work for minutes before they answer. Bun takes it for sockets too, its types don't. */
const NEVER_IDLE: object = { idleTimeout: 0 };

function serveSocket(path: string, service: Service) {
  const socket = Bun.serve({
    unix: path,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // Bodies are counted where they are read.
    ...NEVER_IDLE,
    fetch: service.owner.fetch,
  });
  chmodSync(path, 0o600);
  return socket;
}

function inProcess(service: Service): Fetcher {
  return async (url, init) => service.owner.handle(new Request(url, init));
}
