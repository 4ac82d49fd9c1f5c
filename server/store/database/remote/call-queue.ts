/** Queues calls to a libSQL server: limits calls in flight, pools connections, ends late calls. */
import { ResponseError } from "@libsql/hrana-client";
import { DomainError } from "../../../../core/errors.ts";
import {
  createUnansweredError,
  createUnavailableError,
  NotSentError,
  toUnavailableError,
} from "../errors.ts";
import type { RemoteConnection } from "./remote-connection.ts";

const WAITING_CALLS_MAX = 10_000;

/** How long without a response makes the connection of a call suspect. */
const SUSPECT_AFTER_MS = 2000;

/** A proxy can cut a connection that is idle for longer, without a sign. */
const IDLE_MAX_MS = 30_000;

interface CallLimits {
  /** How long the call may take, its time in the queue included. */
  readonly timeoutMs: number;
  /** Whether the call is sent before all that are not urgent, however long these have waited. */
  readonly isUrgent?: boolean;
}

interface QueuedCall {
  readonly expiresAt: number;
  readonly isUrgent: boolean;
  /** Runs the call; resolves once its caller has the result. */
  send(connection: RemoteConnection): Promise<void>;
  readonly reject: (error: unknown) => void;
}

interface CallQueueOptions {
  openConnection(): RemoteConnection;
  /** The most calls in flight, and the most calls in flight that are not suspect. */
  readonly inFlightMax: number;
  readonly unsuspectedMax: number;
  /** The time in milliseconds. It advances in ticks, which divide {@link SUSPECT_AFTER_MS}. */
  now(): number;
  /** Called after a call that did not reach the server, or got no proper response. */
  onFailure(): void;
}

export function createCallQueue(options: CallQueueOptions) {
  const { inFlightMax, unsuspectedMax, now, onFailure } = options;
  const pool = createConnectionPool(options);
  const inFlight = new Map<QueuedCall, { connection: RemoteConnection; sentAt: number }>();
  let waiting: QueuedCall[] = [];

  const waitTimes = () => inFlight.values().map(({ sentAt }) => now() - sentAt);

  const countUnsuspected = () =>
    waitTimes().reduce((count, ms) => (ms < SUSPECT_AFTER_MS ? count + 1 : count), 0);

  function sendWaiting(): void {
    while (inFlight.size < inFlightMax && countUnsuspected() < unsuspectedMax) {
      const call = takeNext(waiting);
      if (call === undefined) return;
      const connection = pool.acquire(call);
      if (connection === undefined) continue;
      inFlight.set(call, { connection, sentAt: now() });
      call.send(connection).then(
        () => end(call, pool.release),
        (error: unknown) => fail(call, error),
      );
    }
  }

  /** Ends a call in flight; does nothing if it was aborted before. */
  function end(call: QueuedCall, dispose: (connection: RemoteConnection) => void): void {
    const connection = inFlight.get(call)?.connection;
    if (connection === undefined) return;
    inFlight.delete(call);
    dispose(connection);
    // A waiting call goes before the next one of this caller: urgent callers starve no others.
    sendWaiting();
  }

  function fail(call: QueuedCall, error: unknown): void {
    end(call, (connection) => {
      const unavailable = toUnavailableError(error);
      call.reject(unavailable ?? error);
      if (isRefusal(error)) return pool.release(connection);
      connection.close();
      if (unavailable !== undefined) onFailure();
    });
  }

  /** Rejects waiting calls; ends those in flight without knowing whether the server ran them. */
  function abort(failure: DomainError, isAborted: (call: QueuedCall) => boolean): void {
    const unsent = waiting.filter(isAborted);
    if (unsent.length > 0) waiting = waiting.filter((call) => !isAborted(call));
    for (const call of unsent) call.reject(new NotSentError(failure));
    for (const call of inFlight.keys().filter(isAborted)) {
      end(call, (connection) => connection.close());
      call.reject(failure);
    }
  }

  return {
    run<Result>(
      operation: (connection: RemoteConnection) => Promise<Result>,
      { timeoutMs, isUrgent = false }: CallLimits,
    ): Promise<Result> {
      if (waiting.length >= WAITING_CALLS_MAX) return Promise.reject(createQueueFullError());
      return new Promise((resolve, reject) => {
        const send = async (connection: RemoteConnection) => resolve(await operation(connection));
        waiting.push({ expiresAt: now() + timeoutMs, isUrgent, send, reject });
        sendWaiting();
      });
    },

    isIdle: (): boolean => inFlight.size === 0,

    /** Whether a call becomes suspect in this tick, for the first time or once more. */
    hasNewSuspect: (): boolean => waitTimes().some((ms) => ms > 0 && ms % SUSPECT_AFTER_MS === 0),

    /** Rejects the calls whose time is over, and sends waiting ones as far as capacity allows. */
    handleTick(): void {
      abort(createUnansweredError(), ({ expiresAt }) => now() > expiresAt);
      sendWaiting();
    },

    /** Closes the connections without a call: they can be dead without a sign. */
    discardIdle: pool.discardIdle,

    abortAll: (failure: DomainError): void => abort(failure, () => true),
  };
}

function createConnectionPool({ openConnection, onFailure }: CallQueueOptions) {
  let idle: { readonly connection: RemoteConnection; readonly since: number }[] = [];
  return {
    acquire({ reject }: QueuedCall): RemoteConnection | undefined {
      for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
        const isFresh = performance.now() - last.since < IDLE_MAX_MS;
        if (isFresh && !last.connection.isClosed()) return last.connection;
        last.connection.close();
      }
      try {
        return openConnection();
      } catch (error) {
        reject(new NotSentError(createUnavailableError(error)));
        onFailure();
        return undefined;
      }
    },

    /** Takes back a connection whose call got a response. */
    release: (connection: RemoteConnection): void =>
      void idle.push({ connection, since: performance.now() }),

    discardIdle(): void {
      for (const { connection } of idle) connection.close();
      idle = [];
    },
  };
}

function takeNext(waiting: QueuedCall[]): QueuedCall | undefined {
  const urgent = waiting.findIndex(({ isUrgent }) => isUrgent);
  return urgent > 0 ? waiting.splice(urgent, 1)[0] : waiting.shift();
}

function createQueueFullError(): NotSentError {
  const message = "Too many calls wait for the database right now";
  return new NotSentError(new DomainError("Service Unavailable", message));
}

/** Whether the server refused a call in a way that leaves its connection as it was. */
function isRefusal(error: unknown): boolean {
  return error instanceof ResponseError && /^SQLITE_(?:BUSY|CONSTRAINT)/.test(error.code ?? "");
}
