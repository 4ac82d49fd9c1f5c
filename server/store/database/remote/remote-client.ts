/**
 * Calls to a libSQL server. Each has a deadline after which it is really aborted; a bounded number
 * is under way and waits; and none is sent while the server is known not to answer.
 */
import type { Client } from "@libsql/client";
import { DomainError } from "../../../../core/errors.ts";
import { createCallQueue } from "./call-queue.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { NotSentError, createUnansweredError } from "../errors.ts";
import { createConnectionPool, type RemoteAddress } from "./connection-pool.ts";

/** How long a call may take, its time in the queue included. */
const CALL_TIMEOUT_MS = 8000;

/** The same of what a request makes several of, one after another. */
export const SHORT_CALL_TIMEOUT_MS = 5000;

/** The same of what reads or changes whole tables. */
export const LONG_CALL_TIMEOUT_MS = 120_000;

/** After each such time without an answer, a probe tells whether the server still answers. */
const SUSPECT_AFTER_MS = 2000;

/**
 * Time is counted in ticks of this length. A process that was stopped or busy has not ticked, and
 * so finds no call late whose answer it had no time to read.
 */
const TICK_MS = 250;

/** What is wanted of the calls to a server. */
export interface RemoteClientOptions extends RemoteAddress {
  /** Told when the server stops answering, with the reason, and when it answers again. */
  onAvailabilityChange(failure: DomainError | undefined): void;
}

/** The calls to a server. */
export type RemoteClient = ReturnType<typeof createRemoteClient>;

/** Makes what sends calls to a server. */
export function createRemoteClient({
  onAvailabilityChange: onChange,
  ...address
}: RemoteClientOptions) {
  let tick = 0;
  let isClosed = false;
  let lastProbeTick = -1;
  let timer: ReturnType<typeof setInterval> | undefined;
  const pool = createConnectionPool(address);
  const queue = createCallQueue({
    pool,
    getTick: () => tick,
    suspectAfterTicks: toTicks(SUSPECT_AFTER_MS),
    onFailure: probeOncePerTick,
  });
  const breaker = createCircuitBreaker({
    probe: pool.probe,
    onStateChange(failure) {
      if (failure !== undefined) queue.abortAll(failure);
      pool.discardIdle();
      onChange(failure);
    },
  });

  /** Probes the server, at most once in a tick. */
  function probeOncePerTick(): void {
    if (lastProbeTick === tick || breaker.failure() !== undefined) return;
    lastProbeTick = tick;
    pool.discardIdle();
    void breaker.examine();
  }

  function onTick(): void {
    tick++;
    if (queue.isIdle()) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    // Before the next calls are sent, so that they don't go where no answer came from.
    if (queue.hasSuspectCall()) probeOncePerTick();
    queue.abortExpired(createUnansweredError());
    queue.sendWaiting();
  }

  /** Why no call is taken, whether the server answers or not. */
  function getRefusal(): DomainError | undefined {
    if (isClosed) return createUnansweredError();
    return queue.isFull() ? createQueueFullError() : undefined;
  }

  return {
    /**
     * Runs a call.
     *
     * @param timeoutMs How long it may take, its time in the queue included.
     * @throws {NotSentError} Where it was not sent, so that nothing of it was done.
     * @throws {DomainError} `Service Unavailable` where it was not answered in time, or the server
     * cannot be reached. Whether it was done is not known then.
     */
    run<Result>(
      operation: (client: Client) => Promise<Result>,
      timeoutMs = CALL_TIMEOUT_MS,
    ): Promise<Result> {
      const failure = breaker.failure() ?? getRefusal();
      if (failure !== undefined) return Promise.reject(new NotSentError(failure));
      timer ??= setInterval(onTick, TICK_MS).unref();
      return new Promise((resolve, reject) => {
        queue.enqueue({
          enqueuedAtTick: tick,
          timeoutTicks: toTicks(timeoutMs),
          send: async (client) => resolve(await operation(client)),
          reject: reject,
        });
      });
    },

    /** Why nothing is sent; `undefined` while calls are. */
    failure: breaker.failure,

    isClosed: (): boolean => isClosed,

    /** Ends the calls under way, and the connections. No call is taken after that. */
    close(): void {
      isClosed = true;
      breaker.stop();
      pool.close();
      queue.abortAll(createUnansweredError());
      clearInterval(timer);
    },
  };
}

function toTicks(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}

function createQueueFullError(): DomainError {
  return new DomainError("Service Unavailable", "Too many calls wait for the database right now");
}
