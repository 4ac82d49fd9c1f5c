/**
 * Connects to the database. One process owns a database file: it opens the service, serves a socket
 * beside the file, and restricts the permissions of the file. Other processes use the socket.
 */
import { chmodSync, existsSync, realpathSync, rmSync, statSync } from "node:fs";
import type { AdminConnection } from "../commands/command.ts";
import type { OwnerDescription } from "../http/admin/routes.ts";
import type { openService, Service } from "../service.ts";
import { parseFileUrl } from "../store/database/open-database.ts";
import { readSystemErrorCode } from "../system-errors.ts";
import {
  assertWritable,
  connectToOwner,
  createOwnedError,
  createOwnerTimeoutError,
  probeOwner,
  resolveSocketPath,
  tryLockDatabase,
} from "./owner-files.ts";
import { drain } from "./termination.ts";

interface Ownership extends AdminConnection {
  readonly service: Service;
  /** @param timeoutMs How long requests of other commands and running work may take to finish. */
  close(timeoutMs?: number): Promise<void>;
}

type ServiceOptions = Parameters<typeof openService>[0];

type FileOwnership = Ownership & { readonly socket: Bun.Server<undefined> };

/** How long a process waits while another one becomes the owner or ends. */
const HANDOVER_TIMEOUT_MS = 10_000;
const POLL_MS = 50;

/** How long a process that found the socket may take to connect before the socket closes. */
const ACCEPT_GRACE_MS = 50;

/** Connects to the owner, or becomes the owner. A libSQL server has no owner: clients share it. */
export async function connectToDatabase(options: ServiceOptions): Promise<AdminConnection> {
  const file = resolveDatabaseFile(options);
  if (file === undefined) return acquireOwnership(options);
  let connection = await acquireOrConnect(options, file);
  return {
    isInProcess: connection.isInProcess,
    // An owner may end between two requests, as a short command does, and so may its successor.
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
  const { ownership } = await acquireOrFindOwner(options, file, () => false);
  if (ownership === undefined) return connectToOwner(file);
  const close = async () => {
    // A command that is done waits for the requests of other commands.
    while (ownership.socket.pendingRequests > 0) await Bun.sleep(POLL_MS);
    await ownership.close();
  };
  return { ...ownership, close };
}

/** Becomes the owner of a file, or finds the owner; waits for an owner that may end soon. */
async function acquireOrFindOwner(
  options: ServiceOptions,
  file: string,
  mayEndSoon: (owner: OwnerDescription) => boolean,
): Promise<{ ownership: FileOwnership } | { ownership: undefined; owner: OwnerDescription }> {
  for (const deadline = Date.now() + HANDOVER_TIMEOUT_MS; ;) {
    const ownership = await tryAcquireOwnership(options, file);
    if (ownership !== undefined) return { ownership };
    const owner = await probeOwner(file);
    const isTimeOver = Date.now() > deadline;
    if (owner !== undefined && (isTimeOver || !mayEndSoon(owner))) return { ownership, owner };
    if (isTimeOver) throw createOwnerTimeoutError(file);
    await Bun.sleep(POLL_MS);
  }
}

/** Whether a request was never sent, so that a second attempt cannot take effect twice. */
function isConnectError(error: unknown): boolean {
  return ["ENOENT", "ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"].includes(
    readSystemErrorCode(error),
  );
}

/** Becomes the owner of a database. @throws {DomainError} `Conflict`, naming another owner. */
export async function acquireOwnership(options: ServiceOptions): Promise<Ownership> {
  const file = resolveDatabaseFile(options);
  if (file === undefined) {
    const service = await loadService(options);
    const fetcher = createInProcessFetcher(service);
    return { service, fetcher, isInProcess: true, close: service.close };
  }
  assertWritable(file);
  // A process that serves goes on; any other command may end in a moment.
  const result = await acquireOrFindOwner(options, file, ({ address }) => address === null);
  if (result.ownership !== undefined) return result.ownership;
  throw createOwnedError(file, result.owner);
}

/** Opens the service. It is loaded only now: a command that finds an owner does not need it. */
async function loadService(options: ServiceOptions): Promise<Service> {
  const { openService } = await import("../service.ts");
  return openService(options);
}

async function tryAcquireOwnership(
  options: ServiceOptions,
  file: string,
): Promise<FileOwnership | undefined> {
  const unlock = tryLockDatabase(file);
  if (unlock === undefined) return undefined;
  try {
    const service = await loadService(options);
    // Only now is it known that the file is a database of the service.
    const files = restrictToOwner(file).join("; ");
    if (files !== "")
      options.log?.warning?.("Other users could use the database: {files}", { files });
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
        // A process that finds no socket tries again; a process that found it before is answered.
        rmSync(path, { force: true });
        await Bun.sleep(ACCEPT_GRACE_MS);
        await drain(socket, timeoutMs);
        await service.close(deadline - Date.now());
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Returns the real path of the file: its lock and socket must be the same through any link. */
export function resolveDatabaseFile({
  config,
}: Pick<ServiceOptions, "config">): string | undefined {
  const file = parseFileUrl(config.databaseUrl);
  return file !== undefined && existsSync(file) ? realpathSync(file) : file;
}

function serveSocket(path: string, service: Service) {
  // Some commands work for minutes before they answer. Bun's types lack this option for sockets.
  const noIdleTimeout: object = { idleTimeout: 0 };
  const socket = Bun.serve({
    unix: path,
    // The service counts the bytes of a body while it reads them.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    ...noIdleTimeout,
    fetch: service.owner.fetch,
  });
  chmodSync(path, 0o600);
  return socket;
}

const createInProcessFetcher =
  (service: Service): AdminConnection["fetcher"] =>
  async (url, init) =>
    service.owner.handle(new Request(url, init));

/** The suffixes of the files that SQLite and the owner of a database keep beside it. */
const DATABASE_FILE_SUFFIXES = ["", "-wal", "-shm", "-journal", "-lock"];

/** Removes permissions of other users on the files of a database; describes what it changed. */
function restrictToOwner(path: string): string[] {
  return DATABASE_FILE_SUFFIXES.flatMap((suffix) => restrictFile(path + suffix) ?? []);
}

function restrictFile(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  // A wrong setting can name a folder or a device; their mode is not changed.
  if (!stats?.isFile() || (stats.mode & 0o077) === 0) return undefined;
  const mode = stats.mode & 0o600;
  try {
    chmodSync(file, mode);
    return `${file} had mode ${formatMode(stats.mode)}, and has ${formatMode(mode)} now`;
  } catch (error) {
    const reason = `it belongs to user ${stats.uid}, and cannot be changed (${readSystemErrorCode(error)})`;
    return `${file} has mode ${formatMode(stats.mode)}: ${reason}`;
  }
}

const formatMode = (mode: number) => (mode & 0o777).toString(8).padStart(4, "0");
