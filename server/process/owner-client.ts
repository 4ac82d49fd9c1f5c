/**
 * How a process asks the owner of a database file, over the socket beside the file. A suspended
 * owner accepts connections and never answers, so no wait for it is without a deadline.
 */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../core/errors.ts";
import type { AdminConnection, OwnerDescription } from "../ports/process.ts";

/** How long an owner may be silent before a request to it is given up. */
export const OWNER_TIMEOUT_MS = 10_000;

/** How long the next look at an owner that answered comes after the answer. */
const PROBE_INTERVAL_MS = 1000;

/**
 * A deadline is counted in steps of this length, not read from a clock: a verb that was itself
 * suspended gives the owner the rest of its time.
 */
const TIMER_STEP_MS = 250;

/** The longest path that a unix socket can have on every platform. */
const SOCKET_PATH_MAX_BYTES = 103;

/** The socket of a file, by the shorter of its two names: a socket's path is limited. */
export function resolveSocketPath(file: string): string {
  const path = resolve(`${file}-socket`);
  const relativePath = relative(process.cwd(), path);
  const shorterPath = relativePath.length < path.length ? relativePath : path;
  if (Buffer.byteLength(shorterPath) > SOCKET_PATH_MAX_BYTES) {
    throw new DomainError(
      "Invalid Request",
      `The path of the database is too long for a socket beside it: ${shorterPath} has more than ` +
        `${SOCKET_PATH_MAX_BYTES} bytes`,
    );
  }
  return shorterPath;
}

/** The file in which an owner leaves its process, for those whom it does not answer. */
export function resolvePidFilePath(file: string): string {
  return `${file}-owner`;
}

/**
 * Asks who owns a file.
 *
 * @returns `undefined` while the owner comes or goes, so that nobody answers.
 * @throws {DomainError} `Service Unavailable` when an owner is there and silent for the deadline.
 */
export async function probeOwner(
  file: string,
  timeoutMs: number,
  cancelSignal?: AbortSignal,
): Promise<OwnerDescription | undefined> {
  const timeoutController = new AbortController();
  const signal =
    cancelSignal === undefined
      ? timeoutController.signal
      : AbortSignal.any([timeoutController.signal, cancelSignal]);
  const pendingOwner = fetchOwnerDescription(file, signal).then((owner) => ({ owner }));
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += TIMER_STEP_MS) {
    const result = await Promise.race([
      pendingOwner,
      sleep(TIMER_STEP_MS, undefined, { ref: false }),
    ]);
    if (result !== undefined) return result.owner;
  }
  timeoutController.abort();
  throw createOwnerTimeoutError(file);
}

async function fetchOwnerDescription(
  file: string,
  signal: AbortSignal,
): Promise<OwnerDescription | undefined> {
  try {
    const response = await sendToOwner(file, "http://localhost/admin/owner", { signal });
    return response.ok ? ((await response.json()) as OwnerDescription) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reaches the database through its owner. A request may take as long as the owner needs, but all
 * fail once the owner is silent for the deadline.
 */
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

/** Asks the owner again and again until the connection is closed or the owner is silent. */
async function monitorOwner(
  file: string,
  closeSignal: AbortSignal,
  timeoutController: AbortController,
): Promise<void> {
  try {
    while (!closeSignal.aborted) {
      await sleep(PROBE_INTERVAL_MS, undefined, { ref: false, signal: closeSignal });
      await probeOwner(file, OWNER_TIMEOUT_MS, closeSignal);
    }
  } catch (error) {
    if (closeSignal.aborted || !(error instanceof DomainError)) return;
    const message = `${error.message}. What was asked of it may be done once it goes on`;
    timeoutController.abort(new DomainError(error.code, message));
  }
}

/**
 * Sends a request to the owner. Each has a connection of its own: on one that was kept it could not
 * be told whether an owner that ended meanwhile had begun it.
 */
function sendToOwner(file: string, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, unix: resolveSocketPath(file), keepalive: false });
}

/** The error of an owner that does not answer, which names its process and what to do. */
export function createOwnerTimeoutError(file: string): DomainError {
  const pid = readOwnerPid(file);
  const seconds = OWNER_TIMEOUT_MS / 1000;
  return new DomainError(
    "Service Unavailable",
    pid === undefined
      ? `${file} is owned by a process that did not answer for ${seconds} seconds. Resume or end ` +
          "it, then try again"
      : `Process ${pid} owns ${file} and did not answer for ${seconds} seconds. Resume it with ` +
          `"kill -CONT ${pid}" if it is suspended, or end it with "kill -KILL ${pid}", then try again`,
  );
}

/** The process that says it owns a file, if it is there: one that was killed leaves its word. */
function readOwnerPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(resolvePidFilePath(file), "utf8"));
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}
