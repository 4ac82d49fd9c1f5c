/** Queues calls to a libSQL server: a bounded number is in flight, the others wait. */
import { ResponseError } from "@libsql/hrana-client";
import type { DomainError } from "../../../../core/errors.ts";
import { createUnavailableError, NotSentError, toUnavailableError } from "../errors.ts";
import { createConnectionPool } from "./connection-pool.ts";
import type { RemoteConnection } from "./remote-connection.ts";
import { createWaitingCalls } from "./waiting-calls.ts";

export interface QueuedCall {
  readonly enqueuedAtTick: number;
  /** How many ticks the call may take, its time in the queue included. */
  readonly timeoutTicks: number;
  /** Whether it is sent before those that are not, however long they have waited. */
  readonly isUrgent: boolean;
  /** Runs the call; resolves once its caller has the result. */
  send(connection: RemoteConnection): Promise<void>;
  reject(error: unknown): void;
}

interface InFlightCall {
  readonly connection: RemoteConnection;
  readonly sentAtTick: number;
}

export interface CallQueueOptions {
  openConnection(): RemoteConnection;
  /** Calls in flight at once, and those in flight that are not suspiciously long without a response. */
  readonly inFlightMax: number;
  readonly unsuspectedMax: number;
  /** The current tick; time is counted in ticks. */
  getTick(): number;
  /** How many ticks without a response make the connection of a call suspect. */
  readonly suspectAfterTicks: number;
  /** Called after a call that did not reach the server, or got no proper response. */
  onFailure(): void;
}

export function createCallQueue(options: CallQueueOptions) {
  const { inFlightMax, unsuspectedMax, getTick, suspectAfterTicks, onFailure } = options;
  const pool = createConnectionPool(options.openConnection);
  const inFlight = new Map<QueuedCall, InFlightCall>();
  const waiting = createWaitingCalls<QueuedCall>();

  const ageOf = ({ sentAtTick }: InFlightCall) => getTick() - sentAtTick;

  const isExpired = ({ enqueuedAtTick, timeoutTicks }: QueuedCall) =>
    getTick() - enqueuedAtTick > timeoutTicks;

  function hasCapacity(): boolean {
    if (inFlight.size < unsuspectedMax) return true;
    const unsuspected = inFlight.values().filter((call) => ageOf(call) < suspectAfterTicks);
    return inFlight.size < inFlightMax && unsuspected.toArray().length < unsuspectedMax;
  }

  function sendWaiting(): void {
    while (hasCapacity()) {
      const call = waiting.takeNext();
      if (call === undefined) return;
      const connection = acquireOrReject(pool, call, onFailure);
      if (connection === undefined) continue;
      inFlight.set(call, { connection, sentAtTick: getTick() });
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
    // A waiting call goes before the next one of this caller, so that urgent ones starve no others.
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

  /** Ends a call in flight without knowing whether the server executed it. */
  function abort(call: QueuedCall, failure: DomainError): void {
    end(call, (connection) => {
      connection.close();
      call.reject(failure);
    });
  }

  return {
    isFull: waiting.isFull,

    isIdle: (): boolean => inFlight.size === 0,

    /** Sends a call now, or once there is capacity. */
    enqueue(call: QueuedCall): void {
      waiting.add(call);
      sendWaiting();
    },

    /** Whether a call becomes suspect in this tick, and again after each such time. */
    hasNewSuspect: (): boolean =>
      inFlight.values().some((call) => ageOf(call) > 0 && ageOf(call) % suspectAfterTicks === 0),

    /** Sends waiting calls, as far as there is capacity. */
    sendWaiting,

    /** Closes the connections without a call: they can be dead without a sign. */
    discardIdle: pool.discardIdle,

    /** Rejects the calls whose time is over. */
    abortExpired(failure: DomainError): void {
      for (const call of waiting.takeAll(isExpired)) call.reject(new NotSentError(failure));
      for (const call of inFlight.keys()) if (isExpired(call)) abort(call, failure);
    },

    /** Rejects all calls. */
    abortAll(failure: DomainError): void {
      for (const call of waiting.takeAll(() => true)) call.reject(new NotSentError(failure));
      for (const call of inFlight.keys()) abort(call, failure);
    },

    /** Closes the connections, now or once their calls have ended. */
    close: pool.close,
  };
}

/** Acquires a connection for a call. If none can be opened, the call fails. */
function acquireOrReject(
  pool: ReturnType<typeof createConnectionPool>,
  call: QueuedCall,
  onFailure: () => void,
): RemoteConnection | undefined {
  try {
    return pool.acquire();
  } catch (error) {
    call.reject(new NotSentError(createUnavailableError(error)));
    onFailure();
    return undefined;
  }
}

/** Whether the server refused a call in a way that leaves its connection as it was. */
function isRefusal(error: unknown): boolean {
  return error instanceof ResponseError && /^SQLITE_(?:BUSY|CONSTRAINT)/.test(error.code ?? "");
}
