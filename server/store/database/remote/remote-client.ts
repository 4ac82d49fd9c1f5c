/**
 * Calls to a libSQL server. Each has a deadline after which it is aborted; the numbers in flight
 * and waiting are bounded; and a circuit breaker sends none to a server that does not answer, until
 * a probe succeeds.
 */
import { setTimeout } from "node:timers/promises";
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import type { DatabaseOptions } from "../database.ts";
import { createUnansweredError, NotSentError, toUnavailableError } from "../errors.ts";
import { createCallQueue, type CallLimits } from "./call-queue.ts";
import { openRemoteConnection, type RemoteConnection } from "./remote-connection.ts";

type ServerAddress = Parameters<typeof openRemoteConnection>[0];

const PROBE_INTERVAL_MS = 250;
const PROBE_TIMEOUT_MS = 1500;

/**
 * Time is counted in ticks. They don't pass while the process is stopped or busy, so no call expires
 * whose response the process had no time to read.
 */
const TICK_MS = 250;

/**
 * The server stops writing for good when many connections wait for its write lock. So a process
 * sends one write at a time, also if that write is slow: its connection may still hold the lock.
 */
const WRITES_IN_FLIGHT = { inFlightMax: 1, unsuspectedMax: 1 };

/** Reads wait for no lock. A slow read makes room for another one. */
const READS_IN_FLIGHT = { inFlightMax: 24, unsuspectedMax: 8 };

export function createRemoteClient(options: DatabaseOptions) {
  let isClosed = false;
  /** Why the server does not answer; `undefined` while it does. */
  let outage: DomainError | undefined;
  let probing: Promise<void> | undefined;
  let now = 0;
  let lastProbeAt = -1;
  let timer: ReturnType<typeof setInterval> | undefined;
  const queueOptions = { now: () => now, onFailure: probeOncePerTick };
  const openReader = () => openRemoteConnection(options);
  const openWriter = () =>
    openRemoteConnection(options, { isSyncRequired: options.durability === "power" });
  // Reads and writes wait apart from each other.
  const queues = {
    read: createCallQueue({ ...queueOptions, ...READS_IN_FLIGHT, openConnection: openReader }),
    write: createCallQueue({ ...queueOptions, ...WRITES_IN_FLIGHT, openConnection: openWriter }),
  };
  const allQueues = Object.values(queues);

  /** Closes the idle connections and, after a failure, those of all calls. */
  function closeConnections(failure?: DomainError): void {
    for (const queue of allQueues) {
      if (failure !== undefined) queue.abortAll(failure);
      queue.discardIdle();
    }
  }

  function probeOncePerTick(): void {
    if (lastProbeAt === now || outage !== undefined) return;
    lastProbeAt = now;
    closeConnections();
    probing ??= probeUntilAnswered().finally(() => (probing = undefined));
  }

  async function probeUntilAnswered(): Promise<void> {
    do {
      if (outage !== undefined) await setTimeout(PROBE_INTERVAL_MS, undefined, { ref: false });
      const failure = await probe(options);
      if (isClosed) return;
      const isChange = (failure === undefined) !== (outage === undefined);
      outage = failure;
      if (!isChange) continue;
      closeConnections(failure);
      options.onAvailabilityChange?.(failure);
    } while (outage !== undefined);
  }

  function handleTick(): void {
    now += TICK_MS;
    if (allQueues.every((queue) => queue.isIdle())) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    // The probe comes first, so that no waiting call is sent on a connection that may be dead.
    if (allQueues.some((queue) => queue.hasNewSuspect())) probeOncePerTick();
    for (const queue of allQueues) queue.handleTick();
  }

  return {
    /** After any error but a {@link NotSentError}, the server may have executed the call. */
    run<Result>(
      access: keyof typeof queues,
      operation: (connection: RemoteConnection) => Promise<Result>,
      limits: CallLimits,
    ): Promise<Result> {
      const refusal = isClosed ? createUnansweredError() : outage;
      if (refusal !== undefined) return Promise.reject(new NotSentError(refusal));
      timer ??= setInterval(handleTick, TICK_MS).unref();
      return queues[access].run(operation, limits);
    },

    getOutage: (): DomainError | undefined => outage,

    isClosed: (): boolean => isClosed,

    close(): void {
      isClosed = true;
      closeConnections(createUnansweredError());
      clearInterval(timer);
    },
  };
}

/** Queries a server, on a new connection; resolves to the reason why it does not answer. */
async function probe(address: ServerAddress): Promise<DomainError | undefined> {
  try {
    await query(address);
    return undefined;
  } catch (error) {
    // Any other error is a response: the server refused the probe.
    return error instanceof DomainError ? error : toUnavailableError(error);
  }
}

/** Whether a server answers anyone who can reach it. */
export const answersWithoutToken = (url: string): Promise<boolean> =>
  // The URL can have a token too.
  query({ url, authToken: "" }).then(
    () => true,
    () => false,
  );

async function query(address: ServerAddress): Promise<void> {
  const connection = openRemoteConnection(address);
  try {
    const answer = connection.execute({ sql: "SELECT 1", args: [] });
    await pTimeout(answer, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
  } finally {
    connection.close();
  }
}
