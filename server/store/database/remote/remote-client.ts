/**
 * Calls to a libSQL server. Each has a deadline after which it is aborted; the numbers in flight
 * and waiting are bounded; and none is sent while the server is known not to answer.
 */
import type { Client } from "@libsql/client";
import { DomainError } from "../../../../core/errors.ts";
import type { DatabaseOptions } from "../database.ts";
import { createUnansweredError, NotSentError } from "../errors.ts";
import { createCallQueue } from "./call-queue.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { createConnectionPool } from "./connection-pool.ts";

/** How long a call may take, its time in the queue included. */
const CALL_TIMEOUT_MS = 8000;

/** The timeout of calls of which a request makes several, one after another. */
export const SHORT_CALL_TIMEOUT_MS = 5000;

/** The timeout of calls that read or change whole tables. */
export const LONG_CALL_TIMEOUT_MS = 120_000;

/** After each such time without a response to a call, a probe checks whether the server answers. */
const SUSPECT_AFTER_MS = 2000;

/**
 * Time is counted in ticks of this length. They don't pass while the process is stopped or busy, so
 * no call expires whose response the process had no time to read.
 */
const TICK_MS = 250;

/** Creates a client, which connects with its first call. */
export function createRemoteClient({ url, authToken, onAvailabilityChange }: DatabaseOptions) {
  let tick = 0;
  let isClosed = false;
  let lastProbeTick = -1;
  let timer: ReturnType<typeof setInterval> | undefined;
  const pool = createConnectionPool(url, authToken);
  const queue = createCallQueue({
    pool,
    getTick: () => tick,
    suspectAfterTicks: toTicks(SUSPECT_AFTER_MS),
    onFailure: probeOncePerTick,
  });
  const breaker = createCircuitBreaker(pool.probe, (failure) => {
    if (failure !== undefined) queue.abortAll(failure);
    pool.discardIdle();
    onAvailabilityChange?.(failure);
  });

  function probeOncePerTick(): void {
    if (lastProbeTick === tick || breaker.getFailure() !== undefined) return;
    lastProbeTick = tick;
    pool.discardIdle();
    void breaker.probeNow();
  }

  function onTick(): void {
    tick++;
    if (queue.isIdle()) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    // This comes first, so that no waiting call is sent on a connection that may be dead.
    if (queue.hasNewSuspect()) probeOncePerTick();
    queue.abortExpired(createUnansweredError());
    queue.sendWaiting();
  }

  /** Why a call is not accepted. */
  function getRefusal(): DomainError | undefined {
    if (isClosed) return createUnansweredError();
    return breaker.getFailure() ?? (queue.isFull() ? createQueueFullError() : undefined);
  }

  return {
    /**
     * Runs a call.
     *
     * @param timeoutMs How long it may take, its time in the queue included.
     * @throws {NotSentError} If it was not sent, so that nothing of it was done.
     * @throws {DomainError} `Service Unavailable` if there was no response in time, or the server
     * cannot be reached. The server may have executed the call.
     */
    run<Result>(
      operation: (client: Client) => Promise<Result>,
      timeoutMs = CALL_TIMEOUT_MS,
    ): Promise<Result> {
      const refusal = getRefusal();
      if (refusal !== undefined) return Promise.reject(new NotSentError(refusal));
      timer ??= setInterval(onTick, TICK_MS).unref();
      return new Promise((resolve, reject) => {
        queue.enqueue({
          enqueuedAtTick: tick,
          timeoutTicks: toTicks(timeoutMs),
          send: async (client) => resolve(await operation(client)),
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
      pool.close();
      queue.abortAll(createUnansweredError());
      clearInterval(timer);
    },
  };
}

function createQueueFullError(): DomainError {
  return new DomainError("Service Unavailable", "Too many calls wait for the database right now");
}

function toTicks(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}
