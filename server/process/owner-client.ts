/**
 * Connects to the process that owns a database file, over the socket beside the file. A suspended
 * owner accepts connections and never answers, so every wait has a deadline.
 */
import { relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../core/errors.ts";
import type { AdminConnection } from "../commands/command.ts";
import type { OwnerDescription } from "../http/admin/owner.ts";
import { readOwnerPid } from "./database-lock.ts";

/** How long an owner may be silent before requests to it fail. */
const OWNER_TIMEOUT_MS = 10_000;

const PROBE_INTERVAL_MS = 1000;

/**
 * Deadlines are counted in steps of this length, not read from a clock: a command that was suspended
 * itself gives the owner the rest of its time.
 */
const TIMER_STEP_MS = 250;

/** The longest path of a unix socket that every platform supports. */
const SOCKET_PATH_MAX_BYTES = 103;

/** Returns the path of a file's socket, relative or absolute, whichever is shorter. */
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

/** Asks the owner to describe itself; `undefined` if none runs. @throws {DomainError} If it is silent. */
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

/** Connects to the owner. Requests may take as long as it needs; they fail once it is silent. */
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

/** Probes the owner until the connection is closed; aborts its requests when the owner is silent. */
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

/**
 * Sends a request to the owner on a connection of its own: on a reused one a client cannot tell
 * whether an owner that ended had begun to handle it.
 */
function sendToOwner(file: string, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, unix: resolveSocketPath(file), keepalive: false });
}

/** The error of an owner that does not answer, with the process and the next step. */
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
