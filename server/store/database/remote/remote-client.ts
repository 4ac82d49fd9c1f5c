/**
 * Calls to a libSQL server. Each has a deadline after which it is aborted; the numbers in flight
 * and waiting are bounded; and none is sent while the server is known not to answer.
 */
import { DomainError } from "../../../../core/errors.ts";
import type { DatabaseOptions } from "../database.ts";
import type { AccessMode } from "../drizzle-queries.ts";
import { createUnansweredError, NotSentError } from "../errors.ts";
import { createCallQueue, type CallQueueOptions } from "./call-queue.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { probeServer } from "./probe-server.ts";
import { openRemoteConnection, type RemoteConnection } from "./remote-connection.ts";
import { createTicker, toTicks } from "./ticker.ts";

/** How long a call may take, its time in the queue included. */
const CALL_TIMEOUT_MS = 8000;

/** The timeout of calls in requests that make several, one after another. */
export const SHORT_CALL_TIMEOUT_MS = 5000;

/** The timeout of calls that read or change whole tables. */
export const LONG_CALL_TIMEOUT_MS = 120_000;

/** After each such time without a response to a call, a probe checks whether the server answers. */
const SUSPECT_AFTER_MS = 2000;

/**
 * The server stops writing for good when many connections wait for its write lock. So a process
 * sends one write at a time, also if that write is slow: its connection may still hold the lock.
 */
const WRITES_IN_FLIGHT = { inFlightMax: 1, unsuspectedMax: 1 };

/** Reads wait for no lock. A slow read makes room for another one. */
const READS_IN_FLIGHT = { inFlightMax: 24, unsuspectedMax: 8 };

export interface CallOptions {
  readonly access: AccessMode;
  /** How long it may take, its time in the queue included. */
  readonly timeoutMs?: number | undefined;
  /** Whether it is sent before those that are not. */
  readonly isUrgent?: boolean;
}

/** Creates a client, which connects with its first call. */
export function createRemoteClient(options: DatabaseOptions) {
  let isClosed = false;
  let lastProbeTick = -1;
  const ticker = createTicker(onTick, () => allQueues.every((queue) => queue.isIdle()));
  const queues = createQueues(options, {
    getTick: ticker.getTick,
    suspectAfterTicks: toTicks(SUSPECT_AFTER_MS),
    onFailure: probeOncePerTick,
  });
  const allQueues = Object.values(queues);
  const breaker = createCircuitBreaker(
    () => probeServer(options),
    (failure) => {
      for (const queue of allQueues) {
        if (failure !== undefined) queue.abortAll(failure);
        queue.discardIdle();
      }
      options.onAvailabilityChange?.(failure);
    },
  );

  function probeOncePerTick(): void {
    if (lastProbeTick === ticker.getTick() || breaker.getFailure() !== undefined) return;
    lastProbeTick = ticker.getTick();
    for (const queue of allQueues) queue.discardIdle();
    void breaker.probeNow();
  }

  function onTick(): void {
    // The probe comes first, so that no waiting call is sent on a connection that may be dead.
    if (allQueues.some((queue) => queue.hasNewSuspect())) probeOncePerTick();
    for (const queue of allQueues) {
      queue.abortExpired(createUnansweredError());
      queue.sendWaiting();
    }
  }

  /** Why a call is not accepted. */
  function getRefusal(access: CallOptions["access"]): DomainError | undefined {
    if (isClosed) return createUnansweredError();
    return breaker.getFailure() ?? (queues[access].isFull() ? createQueueFullError() : undefined);
  }

  return {
    /**
     * Runs a call.
     *
     * @throws {NotSentError} If it was not sent, so that nothing of it was done.
     * @throws {DomainError} `Service Unavailable` if there was no response in time, or the server
     * cannot be reached. The server may have executed the call.
     */
    run<Result>(
      operation: (connection: RemoteConnection) => Promise<Result>,
      { access, timeoutMs = CALL_TIMEOUT_MS, isUrgent = false }: CallOptions,
    ): Promise<Result> {
      const refusal = getRefusal(access);
      if (refusal !== undefined) return Promise.reject(new NotSentError(refusal));
      ticker.start();
      return new Promise((resolve, reject) => {
        queues[access].enqueue({
          enqueuedAtTick: ticker.getTick(),
          timeoutTicks: toTicks(timeoutMs),
          isUrgent,
          send: async (connection) => resolve(await operation(connection)),
          reject,
        });
      });
    },

    /** Why no call is sent; `undefined` while calls are. */
    getOutage: breaker.getFailure,

    isClosed: (): boolean => isClosed,

    /** Aborts all calls and closes the connections; later calls are refused. */
    close(): void {
      isClosed = true;
      breaker.stop();
      for (const queue of allQueues) {
        queue.close();
        queue.abortAll(createUnansweredError());
      }
      ticker.stop();
    },
  };
}

/** Reads and writes wait apart from each other. */
function createQueues(
  options: DatabaseOptions,
  queueOptions: Pick<CallQueueOptions, "getTick" | "suspectAfterTicks" | "onFailure">,
) {
  const isSyncRequired = options.durability === "power";
  const openReader = () => openRemoteConnection(options);
  const openWriter = () => openRemoteConnection(options, { isSyncRequired });
  return {
    read: createCallQueue({ ...queueOptions, ...READS_IN_FLIGHT, openConnection: openReader }),
    write: createCallQueue({ ...queueOptions, ...WRITES_IN_FLIGHT, openConnection: openWriter }),
  };
}

function createQueueFullError(): DomainError {
  return new DomainError("Service Unavailable", "Too many calls wait for the database right now");
}
