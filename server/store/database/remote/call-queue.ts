/** Queues calls to a libSQL server: a bounded number is in flight, the others wait. */
import { ResponseError } from "@libsql/hrana-client";
import type { DomainError } from "../../../../core/errors.ts";
import { createUnavailableError, NotSentError, toUnavailableError } from "../errors.ts";
import { createConnectionPool } from "./connection-pool.ts";
import type { RemoteConnection } from "./remote-connection.ts";

const WAITING_CALLS_MAX = 10_000;

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
  let waiting: QueuedCall[] = [];

  const ageOf = ({ sentAtTick }: InFlightCall) => getTick() - sentAtTick;

  /** Rejects the calls that meet a condition, whether they wait or are in flight. */
  function rejectAll(failure: DomainError, isRejected: (call: QueuedCall) => boolean): void {
    const rejected = waiting.filter(isRejected);
    if (rejected.length > 0) waiting = waiting.filter((call) => !isRejected(call));
    for (const call of rejected) call.reject(new NotSentError(failure));
    for (const call of inFlight.keys()) if (isRejected(call)) abort(call, failure);
  }

  const isExpired = ({ enqueuedAtTick, timeoutTicks }: QueuedCall) =>
    getTick() - enqueuedAtTick > timeoutTicks;

  function hasCapacity(): boolean {
    if (inFlight.size < unsuspectedMax) return true;
    const unsuspected = inFlight.values().filter((call) => ageOf(call) < suspectAfterTicks);
    return inFlight.size < inFlightMax && unsuspected.toArray().length < unsuspectedMax;
  }

  function sendWaiting(): void {
    while (hasCapacity()) {
      const call = takeNext(waiting);
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
    isFull: (): boolean => waiting.length >= WAITING_CALLS_MAX,

    isIdle: (): boolean => inFlight.size === 0,

    /** Sends a call now, or once there is capacity. */
    enqueue(call: QueuedCall): void {
      waiting.push(call);
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
    abortExpired: (failure: DomainError): void => rejectAll(failure, isExpired),

    /** Rejects all calls. */
    abortAll: (failure: DomainError): void => rejectAll(failure, () => true),

    /** Closes the connections, now or once their calls have ended. */
    close: pool.close,
  };
}

/** Removes the call to send next; `undefined` if there is none. */
function takeNext(waiting: QueuedCall[]): QueuedCall | undefined {
  const urgent = waiting.findIndex(({ isUrgent }) => isUrgent);
  return urgent > 0 ? waiting.splice(urgent, 1)[0] : waiting.shift();
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
