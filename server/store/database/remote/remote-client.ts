/**
 * Calls to a libSQL server. Each has a deadline after which it is aborted; the numbers in flight
 * and waiting are bounded; and none is sent while the server is known not to answer.
 */
import type { DomainError } from "../../../../core/errors.ts";
import type { DatabaseOptions } from "../database.ts";
import { createUnansweredError, NotSentError } from "../errors.ts";
import { createCallQueue, type CallLimits } from "./call-queue.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { openRemoteConnection, type RemoteConnection } from "./remote-connection.ts";

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

/** Creates a client, which connects with its first call. */
export function createRemoteClient(options: DatabaseOptions) {
  let isClosed = false;
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
  const breaker = createCircuitBreaker(options, (failure) => {
    closeConnections(failure);
    options.onAvailabilityChange?.(failure);
  });

  /** Closes the idle connections and, after a failure, those of all calls. */
  function closeConnections(failure?: DomainError): void {
    for (const queue of allQueues) {
      if (failure !== undefined) queue.abortAll(failure);
      queue.discardIdle();
    }
  }

  function probeOncePerTick(): void {
    if (lastProbeAt === now || breaker.getFailure() !== undefined) return;
    lastProbeAt = now;
    closeConnections();
    void breaker.probeNow();
  }

  function handleTick(): void {
    now += TICK_MS;
    if (allQueues.every((queue) => queue.isIdle())) return stopTicks();
    // The probe comes first, so that no waiting call is sent on a connection that may be dead.
    if (allQueues.some((queue) => queue.hasNewSuspect())) probeOncePerTick();
    for (const queue of allQueues) queue.handleTick();
  }

  function stopTicks(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /**
     * @throws {NotSentError} If the call was not sent, so that nothing of it was done.
     * @throws {DomainError} `Service Unavailable` if there was no response in time, or the server
     * cannot be reached. The server may have executed the call.
     */
    run<Result>(
      access: keyof typeof queues,
      operation: (connection: RemoteConnection) => Promise<Result>,
      limits: CallLimits,
    ): Promise<Result> {
      const refusal = isClosed ? createUnansweredError() : breaker.getFailure();
      if (refusal !== undefined) return Promise.reject(new NotSentError(refusal));
      timer ??= setInterval(handleTick, TICK_MS).unref();
      return queues[access].run(operation, limits);
    },

    /** Why no call is sent; `undefined` while calls are. */
    getOutage: breaker.getFailure,

    isClosed: (): boolean => isClosed,

    /** Aborts all calls and closes the connections; later calls are refused. */
    close(): void {
      isClosed = true;
      breaker.stop();
      closeConnections(createUnansweredError());
      stopTicks();
    },
  };
}
