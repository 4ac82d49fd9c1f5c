/**
 * Calls to a libSQL server. Each has a deadline after which it is really aborted; a bounded number
 * is under way and waits; and none is sent while the server is known not to answer.
 */
import type { Client } from "@libsql/client";
import { DomainError } from "../../core/errors.ts";
import { createCallQueue } from "./call-queue.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import { NotSentError, unanswered } from "./guard.ts";
import { createServerPool, type ServerAddress } from "./server-pool.ts";

/** How long a call may take, its time in the queue included. */
const CALL_TIMEOUT_MS = 8000;

/** The same of what a request makes several of, one after another. */
export const QUICK_CALL_TIMEOUT_MS = 5000;

/** The same of what reads or changes whole tables. */
export const LONG_CALL_TIMEOUT_MS = 120_000;

/** After each such time without an answer, a probe tells whether the server still answers. */
const SUSPECT_MS = 2000;

/**
 * Time is counted in ticks of this length. A process that was stopped or busy has not ticked, and
 * so finds no call late whose answer it had no time to read.
 */
const TICK_MS = 250;

/** What is wanted of the calls to a server. */
export interface ServerCallsOptions extends ServerAddress {
  /** Told when the server stops answering, with the reason, and when it answers again. */
  onChange(failure: DomainError | undefined): void;
}

/** The calls to a server. */
export type ServerCalls = ReturnType<typeof createServerCalls>;

/** Makes what sends calls to a server. */
export function createServerCalls({ onChange, ...address }: ServerCallsOptions) {
  let tick = 0;
  let isClosed = false;
  let examinedAt = -1;
  let timer: ReturnType<typeof setInterval> | undefined;
  const pool = createServerPool(address);
  const queue = createCallQueue({
    pool,
    tick: () => tick,
    suspectTicks: ticksOf(SUSPECT_MS),
    onFailure: examine,
  });
  const breaker = createCircuitBreaker({
    probe: pool.probe,
    onChange(failure) {
      if (failure !== undefined) queue.endAll(failure);
      pool.distrust();
      onChange(failure);
    },
  });

  /** Probes the server, at most once in a tick. */
  function examine(): void {
    if (examinedAt === tick || breaker.failure() !== undefined) return;
    examinedAt = tick;
    pool.distrust();
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
    if (queue.hasSuspect()) examine();
    queue.endLate(unanswered());
    queue.sendWaiting();
  }

  /** Why no call is taken, whether the server answers or not. */
  function refusal(): DomainError | undefined {
    if (isClosed) return unanswered();
    return queue.isFull() ? tooMany() : undefined;
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
      work: (client: Client) => Promise<Result>,
      timeoutMs = CALL_TIMEOUT_MS,
    ): Promise<Result> {
      const failure = breaker.failure() ?? refusal();
      if (failure !== undefined) return Promise.reject(new NotSentError(failure));
      timer ??= setInterval(onTick, TICK_MS).unref();
      return new Promise((resolve, reject) => {
        queue.add({
          madeAt: tick,
          timeoutTicks: ticksOf(timeoutMs),
          send: async (client) => resolve(await work(client)),
          fail: reject,
        });
      });
    },

    /** Why nothing is sent; `undefined` while calls are. */
    failure: breaker.failure,

    isClosed: (): boolean => isClosed,

    /** Ends the calls under way, and the connections. No call is taken after that. */
    close(): void {
      isClosed = true;
      breaker.close();
      pool.close();
      queue.endAll(unanswered());
      clearInterval(timer);
    },
  };
}

function ticksOf(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}

function tooMany(): DomainError {
  return new DomainError("Service Unavailable", "Too many calls wait for the database right now");
}
