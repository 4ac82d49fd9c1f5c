/** The queue of the calls to a libSQL server: a bounded number is under way, the others wait. */
import type { Client } from "@libsql/client";
import type { DomainError } from "../../core/errors.ts";
import { asUnavailable, NotSentError } from "./guard.ts";
import type { ServerConnection, ServerPool } from "./server-pool.ts";

/** Calls under way at once, besides those without an answer for suspiciously long. */
const CALLS_MAX = 20;

/** Calls that wait until another ends. */
const WAITING_MAX = 10_000;

/** A call and its caller. */
export interface Call {
  /** The tick in which the caller came. */
  readonly madeAt: number;
  /** How many ticks it may take, its time in the queue included. */
  readonly timeoutTicks: number;
  /** Runs the call; resolves once its caller has the result. */
  send(client: Client): Promise<void>;
  fail(error: unknown): void;
}

interface UnderWay {
  readonly connection: ServerConnection;
  /** The tick in which it was sent. */
  readonly sentAt: number;
}

/** What a queue works with. */
export interface CallQueueOptions {
  readonly pool: ServerPool;
  /** The present tick, in which time is counted. */
  tick(): number;
  /** After so many ticks without an answer, the connection of a call may be dead. */
  readonly suspectTicks: number;
  /** Told of each call that did not reach the server, or was not answered well. */
  onFailure(): void;
}

/** Makes a queue, empty. */
export function createCallQueue({ pool, tick, suspectTicks, onFailure }: CallQueueOptions) {
  const underWay = new Map<Call, UnderWay>();
  let waiting: Call[] = [];

  const hasRoom = () => {
    const answering = underWay.values().filter(({ sentAt }) => tick() - sentAt < suspectTicks);
    return answering.toArray().length < CALLS_MAX;
  };

  function sendWaiting(): void {
    while (waiting.length > 0 && hasRoom()) {
      const call = waiting.shift();
      if (call === undefined) return;
      const connection = pool.take();
      underWay.set(call, { connection, sentAt: tick() });
      call.send(connection.client).then(
        () => end(call) && pool.give(connection),
        (error: unknown) => failed(call, connection, error),
      );
    }
  }

  /** Ends a call, unless it was ended before, at its deadline. */
  function end(call: Call): boolean {
    const isEnded = underWay.delete(call);
    if (isEnded) sendWaiting();
    return isEnded;
  }

  function failed(call: Call, connection: ServerConnection, thrown: unknown): void {
    if (!underWay.has(call)) return;
    const unavailable = asUnavailable(thrown);
    call.fail(unavailable ?? thrown);
    if (unavailable === undefined) pool.give(connection);
    else {
      connection.close();
      onFailure();
    }
    end(call);
  }

  /** Ends a call that was sent; whether it was done is not known. */
  function abort(call: Call, failure: DomainError): void {
    underWay.get(call)?.connection.close();
    call.fail(failure);
    end(call);
  }

  return {
    isFull: (): boolean => waiting.length >= WAITING_MAX,
    isIdle: (): boolean => underWay.size === 0,

    /** Sends a call, or lets it wait. */
    add(call: Call): void {
      waiting.push(call);
      sendWaiting();
    },

    /** Whether a call has no answer since `suspectTicks`, or a multiple of them, exactly. */
    hasSuspect: (): boolean =>
      underWay.values().some(({ sentAt }) => {
        const age = tick() - sentAt;
        return age > 0 && age % suspectTicks === 0;
      }),

    /** Sends what waits, as far as there is room. */
    sendWaiting,

    /** Ends the calls that took too long. */
    endLate(failure: DomainError): void {
      const isLate = ({ madeAt, timeoutTicks }: Call) => tick() - madeAt > timeoutTicks;
      const late = waiting.filter(isLate);
      if (late.length > 0) waiting = waiting.filter((call) => !isLate(call));
      for (const call of late) call.fail(new NotSentError(failure));
      for (const call of underWay.keys()) if (isLate(call)) abort(call, failure);
    },

    /** Ends all calls. */
    endAll(failure: DomainError): void {
      const unsent = waiting;
      waiting = [];
      for (const call of unsent) call.fail(new NotSentError(failure));
      for (const call of underWay.keys()) abort(call, failure);
    },
  };
}
