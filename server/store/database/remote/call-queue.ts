/** Queues calls to a libSQL server: a bounded number is in flight, the others wait. */
import type { Client } from "@libsql/client";
import type { DomainError } from "../../../../core/errors.ts";
import { NotSentError, toUnavailableError } from "../errors.ts";
import type { ConnectionPool, RemoteConnection } from "./connection-pool.ts";

/** Calls in flight at once, besides those that are suspiciously long without a response. */
const IN_FLIGHT_CALLS_MAX = 20;

const WAITING_CALLS_MAX = 10_000;

/** A call and its caller. */
export interface QueuedCall {
  readonly enqueuedAtTick: number;
  /** How many ticks the call may take, its time in the queue included. */
  readonly timeoutTicks: number;
  /** Runs the call; resolves once its caller has the result. */
  send(client: Client): Promise<void>;
  reject(error: unknown): void;
}

interface InFlightCall {
  readonly connection: RemoteConnection;
  readonly sentAtTick: number;
}

/** Options of a call queue. */
export interface CallQueueOptions {
  readonly pool: ConnectionPool;
  /** The current tick; time is counted in ticks. */
  getTick(): number;
  /** How many ticks without a response make the connection of a call suspect. */
  readonly suspectAfterTicks: number;
  /** Called after a call that did not reach the server, or got no proper response. */
  onFailure(): void;
}

/** Creates an empty queue. */
export function createCallQueue({ pool, getTick, suspectAfterTicks, onFailure }: CallQueueOptions) {
  const inFlight = new Map<QueuedCall, InFlightCall>();
  let waiting: QueuedCall[] = [];

  const ageOf = ({ sentAtTick }: InFlightCall) => getTick() - sentAtTick;

  const isExpired = ({ enqueuedAtTick, timeoutTicks }: QueuedCall) =>
    getTick() - enqueuedAtTick > timeoutTicks;

  function hasCapacity(): boolean {
    const unsuspected = inFlight.values().filter((call) => ageOf(call) < suspectAfterTicks);
    return unsuspected.toArray().length < IN_FLIGHT_CALLS_MAX;
  }

  function sendWaiting(): void {
    while (waiting.length > 0 && hasCapacity()) {
      const call = waiting.shift();
      if (call === undefined) return;
      const connection = pool.acquire();
      inFlight.set(call, { connection, sentAtTick: getTick() });
      call.send(connection.client).then(
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
    sendWaiting();
  }

  function fail(call: QueuedCall, error: unknown): void {
    const unavailable = toUnavailableError(error);
    end(call, (connection) => {
      call.reject(unavailable ?? error);
      if (unavailable === undefined) return pool.release(connection);
      connection.close();
      onFailure();
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

    /** Rejects the calls whose time is over. */
    abortExpired(failure: DomainError): void {
      const expired = waiting.filter(isExpired);
      if (expired.length > 0) waiting = waiting.filter((call) => !isExpired(call));
      for (const call of expired) call.reject(new NotSentError(failure));
      for (const call of inFlight.keys()) if (isExpired(call)) abort(call, failure);
    },

    /** Rejects all calls. */
    abortAll(failure: DomainError): void {
      const unsent = waiting;
      waiting = [];
      for (const call of unsent) call.reject(new NotSentError(failure));
      for (const call of inFlight.keys()) abort(call, failure);
    },
  };
}
