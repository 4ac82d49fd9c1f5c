/** The queue of the calls to a libSQL server: a bounded number is under way, the others wait. */
import type { Client } from "@libsql/client";
import type { DomainError } from "../../../../core/errors.ts";
import { toUnavailableError, NotSentError } from "../errors.ts";
import type { RemoteConnection, ConnectionPool } from "./connection-pool.ts";

/** Calls under way at once, besides those without an answer for suspiciously long. */
const IN_FLIGHT_CALLS_MAX = 20;

/** Calls that wait until another ends. */
const WAITING_CALLS_MAX = 10_000;

/** A call and its caller. */
export interface QueuedCall {
  /** The tick in which the caller came. */
  readonly enqueuedAtTick: number;
  /** How many ticks it may take, its time in the queue included. */
  readonly timeoutTicks: number;
  /** Runs the call; resolves once its caller has the result. */
  send(client: Client): Promise<void>;
  reject(error: unknown): void;
}

interface InFlightCall {
  readonly connection: RemoteConnection;
  /** The tick in which it was sent. */
  readonly sentAtTick: number;
}

/** What a queue works with. */
export interface CallQueueOptions {
  readonly pool: ConnectionPool;
  /** The present tick, in which time is counted. */
  getTick(): number;
  /** After so many ticks without an answer, the connection of a call may be dead. */
  readonly suspectAfterTicks: number;
  /** Told of each call that did not reach the server, or was not answered well. */
  onFailure(): void;
}

/** Makes a queue, empty. */
export function createCallQueue({
  pool,
  getTick: tick,
  suspectAfterTicks: suspectTicks,
  onFailure,
}: CallQueueOptions) {
  const inFlight = new Map<QueuedCall, InFlightCall>();
  let waiting: QueuedCall[] = [];

  const hasCapacity = () => {
    const unsuspected = inFlight
      .values()
      .filter(({ sentAtTick }) => tick() - sentAtTick < suspectTicks);
    return unsuspected.toArray().length < IN_FLIGHT_CALLS_MAX;
  };

  function sendWaiting(): void {
    while (waiting.length > 0 && hasCapacity()) {
      const call = waiting.shift();
      if (call === undefined) return;
      const connection = pool.acquire();
      inFlight.set(call, { connection, sentAtTick: tick() });
      call.send(connection.client).then(
        () => finish(call) && pool.release(connection),
        (error: unknown) => handleFailure(call, connection, error),
      );
    }
  }

  /** Ends a call, unless it was ended before, at its deadline. */
  function finish(call: QueuedCall): boolean {
    const isEnded = inFlight.delete(call);
    if (isEnded) sendWaiting();
    return isEnded;
  }

  function handleFailure(call: QueuedCall, connection: RemoteConnection, thrown: unknown): void {
    if (!inFlight.has(call)) return;
    const unavailable = toUnavailableError(thrown);
    call.reject(unavailable ?? thrown);
    if (unavailable === undefined) pool.release(connection);
    else {
      connection.close();
      onFailure();
    }
    finish(call);
  }

  /** Ends a call that was sent; whether it was done is not known. */
  function abort(call: QueuedCall, failure: DomainError): void {
    inFlight.get(call)?.connection.close();
    call.reject(failure);
    finish(call);
  }

  return {
    isFull: (): boolean => waiting.length >= WAITING_CALLS_MAX,
    isIdle: (): boolean => inFlight.size === 0,

    /** Sends a call, or lets it wait. */
    enqueue(call: QueuedCall): void {
      waiting.push(call);
      sendWaiting();
    },

    /** Whether a call has no answer since `suspectTicks`, or a multiple of them, exactly. */
    hasSuspectCall: (): boolean =>
      inFlight.values().some(({ sentAtTick }) => {
        const age = tick() - sentAtTick;
        return age > 0 && age % suspectTicks === 0;
      }),

    /** Sends what waits, as far as there is room. */
    sendWaiting,

    /** Ends the calls that took too long. */
    abortExpired(failure: DomainError): void {
      const isExpired = ({ enqueuedAtTick: madeAt, timeoutTicks }: QueuedCall) =>
        tick() - madeAt > timeoutTicks;
      const expired = waiting.filter(isExpired);
      if (expired.length > 0) waiting = waiting.filter((call) => !isExpired(call));
      for (const call of expired) call.reject(new NotSentError(failure));
      for (const call of inFlight.keys()) if (isExpired(call)) abort(call, failure);
    },

    /** Ends all calls. */
    abortAll(failure: DomainError): void {
      const unsent = waiting;
      waiting = [];
      for (const call of unsent) call.reject(new NotSentError(failure));
      for (const call of inFlight.keys()) abort(call, failure);
    },
  };
}
