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

/**
 * How many later calls are sent before the one that has waited longest: urgent ones, and pipelined
 * ones, which over a slow network are always in flight.
 */
const OVERTAKEN_MAX = 8;

/** How long without a response makes the connection of a call suspect. */
const SUSPECT_AFTER_MS = 500;

/** A proxy can cut a connection that is idle for longer, without a sign. */
const IDLE_MAX_MS = 30_000;

interface CallLimits {
  /** How long the call may take, its time in the queue included. */
  readonly timeoutMs: number;
  /** Whether the call is sent before those that are not urgent; see {@link OVERTAKEN_MAX}. */
  readonly isUrgent?: boolean;
  /** Whether it may be sent on a connection before the calls on it are answered. */
  readonly isPipelined?: boolean;
}

interface QueuedCall {
  readonly expiresAt: number;
  readonly isUrgent: boolean;
  readonly isPipelined: boolean;
  /** Runs the call; resolves once its caller has the result. */
  send(connection: RemoteConnection): Promise<void>;
  readonly reject: (error: unknown) => void;
}

interface CallQueueOptions {
  openConnection(): RemoteConnection;
  /** The most calls in flight, and the most calls in flight that are not suspect. */
  readonly inFlightMax: number;
  readonly unsuspectedMax: number;
  /** The most pipelined calls in flight on the only connection; none by default. */
  readonly pipelinedMax?: number;
  /** The time in milliseconds. It advances in ticks, which divide {@link SUSPECT_AFTER_MS}. */
  now(): number;
  /** Called after a call that did not reach the server, or got no proper response. */
  onFailure(): void;
}

export function createCallQueue(options: CallQueueOptions) {
  const { inFlightMax, unsuspectedMax, pipelinedMax = 0, now, onFailure } = options;
  const inFlight = createCallsInFlight(now);
  const pool = createConnectionPool(options, inFlight.isUsed);
  const waiting = createWaitingCalls();

  function sendWaiting(): void {
    while (inFlight.count() < inFlightMax && inFlight.countUnsuspected() < unsuspectedMax) {
      const call = waiting.takeNext();
      if (call === undefined) return;
      const connection = pool.acquire(call);
      if (connection !== undefined) sendCall(call, connection);
    }
    while (inFlight.count() < pipelinedMax) {
      const connection = inFlight.findPipeline();
      const call = connection && waiting.takePipelined();
      if (connection === undefined || call === undefined) return;
      sendCall(call, connection);
    }
  }

  function sendCall(call: QueuedCall, connection: RemoteConnection): void {
    inFlight.add(call, connection);
    call.send(connection).then(end.bind(null, call, pool.release), fail.bind(null, call));
  }

  /** Ends a call in flight; does nothing if it was aborted before. */
  function end(call: QueuedCall, dispose: (connection: RemoteConnection) => void): void {
    const connection = inFlight.remove(call);
    if (connection === undefined) return;
    dispose(connection);
    // A waiting call goes before the next one of this caller: urgent callers starve no others.
    sendWaiting();
  }

  function fail(call: QueuedCall, error: unknown): void {
    end(call, (connection) => {
      const unavailable = toUnavailableError(error);
      call.reject(unavailable ?? error);
      if (isRefusal(error)) return pool.release(connection);
      if (unavailable !== undefined) onFailure();
      retireOrClose(connection, error);
      pool.release(connection);
    });
  }

  /** Rejects waiting calls; ends those in flight without knowing whether the server ran them. */
  function abort(failure: DomainError, isAborted: (call: QueuedCall) => boolean): void {
    for (const call of waiting.takeAll(isAborted)) call.reject(new NotSentError(failure));
    for (const call of inFlight.calls().filter(isAborted)) {
      end(call, (connection) => connection.close());
      call.reject(failure);
    }
  }

  return {
    run<Result>(
      operation: (connection: RemoteConnection) => Promise<Result>,
      { timeoutMs, isUrgent = false, isPipelined = false }: CallLimits,
    ): Promise<Result> {
      if (waiting.isFull()) return Promise.reject(createQueueFullError());
      return new Promise((resolve, reject) => {
        const send = async (connection: RemoteConnection) => resolve(await operation(connection));
        waiting.add({ expiresAt: now() + timeoutMs, isUrgent, isPipelined, send, reject });
        sendWaiting();
      });
    },

    isIdle: (): boolean => inFlight.count() === 0,
    hasNewSuspect: inFlight.hasNewSuspect,

    /** Rejects calls whose time is over or whose connection is dead, and sends waiting ones. */
    handleTick(): void {
      abort(createUnansweredError(), (call) => now() > call.expiresAt || inFlight.isDead(call));
      inFlight.ping();
      sendWaiting();
    },

    /** Closes the connections without a call: they can be dead without a sign. */
    discardIdle: pool.discardIdle,

    abortAll: (failure: DomainError): void => abort(failure, () => true),
  };
}

/** Creates the calls that are not sent yet. */
function createWaitingCalls() {
  let calls: QueuedCall[] = [];
  /** How many later calls were sent before the first one. */
  let overtakenCount = 0;
  const isFirstDue = () => overtakenCount >= OVERTAKEN_MAX;

  function take(index: number): QueuedCall | undefined {
    if (index < 0) return undefined;
    overtakenCount = index === 0 ? 0 : overtakenCount + 1;
    return calls.splice(index, 1)[0];
  }

  return {
    add: (call: QueuedCall): void => void calls.push(call),
    isFull: (): boolean => calls.length >= WAITING_CALLS_MAX,

    /** Takes the first urgent call, or else the first one. */
    takeNext(): QueuedCall | undefined {
      const urgent = isFirstDue() ? 0 : calls.findIndex(({ isUrgent }) => isUrgent);
      return take(Math.max(0, urgent));
    },

    takePipelined(): QueuedCall | undefined {
      const pipelined = calls.findIndex(({ isPipelined }) => isPipelined);
      return isFirstDue() && pipelined !== 0 ? undefined : take(pipelined);
    },

    /** Takes all calls that fulfil a condition. */
    takeAll(isTaken: (call: QueuedCall) => boolean): readonly QueuedCall[] {
      const taken = calls.filter(isTaken);
      if (taken.length === 0) return taken;
      calls = calls.filter((call) => !isTaken(call));
      overtakenCount = 0;
      return taken;
    },
  };
}

/** Creates the calls that were sent and have no response yet, with their connections. */
function createCallsInFlight(now: () => number) {
  const sent = new Map<QueuedCall, { connection: RemoteConnection; sentAt: number }>();
  const waitTimes = () => sent.values().map(({ sentAt }) => now() - sentAt);
  const countUnsuspected = () =>
    waitTimes().reduce((count, ms) => (ms < SUSPECT_AFTER_MS ? count + 1 : count), 0);
  return {
    add: (call: QueuedCall, connection: RemoteConnection): void =>
      void sent.set(call, { connection, sentAt: now() }),

    /** @returns The connection of the call; `undefined` if it is not in flight. */
    remove(call: QueuedCall): RemoteConnection | undefined {
      const connection = sent.get(call)?.connection;
      sent.delete(call);
      return connection;
    },

    calls: () => sent.keys(),
    count: (): number => sent.size,
    countUnsuspected,
    isDead: (call: QueuedCall): boolean => sent.get(call)?.connection.isDead(now()) === true,
    ping: (): void => sent.values().forEach(({ connection }) => connection.ping(now())),
    isUsed: (connection: RemoteConnection): boolean =>
      sent.values().some((other) => other.connection === connection),

    /** The connection that all calls in flight share, if more calls may follow them. */
    findPipeline(): RemoteConnection | undefined {
      const isPipeline = sent.keys().every(({ isPipelined }) => isPipelined);
      const [first] = sent.values();
      if (!isPipeline || countUnsuspected() < sent.size) return undefined;
      return first?.connection.isClosed() === false ? first.connection : undefined;
    },

    /** Whether a call becomes suspect in this tick, for the first time or once more. */
    hasNewSuspect: (): boolean => waitTimes().some((ms) => ms > 0 && ms % SUSPECT_AFTER_MS === 0),
  };
}

/** @param isUsed Whether a connection has calls in flight. */
function createConnectionPool(
  { openConnection, onFailure }: CallQueueOptions,
  isUsed: (connection: RemoteConnection) => boolean,
) {
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

    /** Takes back the connection of a call that ended; closes it if it takes no more calls. */
    release(connection: RemoteConnection): void {
      if (isUsed(connection)) return;
      if (connection.isClosed()) connection.close();
      else idle.push({ connection, since: performance.now() });
    },

    discardIdle(): void {
      for (const { connection } of idle) connection.close();
      idle = [];
    },
  };
}

function createQueueFullError(): NotSentError {
  const message = "Too many calls wait for the database right now";
  return new NotSentError(new DomainError("Service Unavailable", message));
}

/** Ends the use of a connection. If the server answered, calls in flight get their responses. */
const retireOrClose = (connection: RemoteConnection, error: unknown) =>
  error instanceof ResponseError ? connection.retire() : connection.close();

/** Whether the server refused a call in a way that leaves its connection as it was. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ResponseError && /^SQLITE_(?:BUSY|CONSTRAINT)/.test(error.code ?? "");
}
