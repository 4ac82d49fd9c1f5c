/**
 * Idempotency keys: one request at a time pays with one. Those that come meanwhile wait: until it is
 * answered, then they cost nothing; or until its debit is given back, then the next of them pays; or
 * until they have waited too long.
 */
import type { Charge, Receipt } from "../../core/credits.ts";
import { tooLate } from "./in-time.ts";

/** A request before the ledger. */
export interface Waiting {
  readonly charge: Charge;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes the place where requests with idempotency keys wait.
 *
 * @param go Lets a request go on to the ledger.
 * @param timeoutMs How long one may wait.
 */
export function createPayments(go: (request: Waiting) => void, timeoutMs: number) {
  /** By account and key: those behind the one that pays, or why there can be none. */
  const behind = new Map<string, Waiting[] | Error>();
  const paying = new WeakSet<Charge>();

  function goFirst(name: string, request: Waiting, rest: Waiting[]): void {
    behind.set(name, rest);
    paying.add(request.charge);
    go(request);
  }

  /** Refuses a request that still waits. */
  function giveUp(name: string, request: Waiting): void {
    const waiting = behind.get(name);
    const place = Array.isArray(waiting) ? waiting.indexOf(request) : -1;
    if (!Array.isArray(waiting) || place === -1) return;
    waiting.splice(place, 1);
    request.reject(tooLate());
  }

  /**
   * The one that pays leaves; what is not of it does nothing here.
   *
   * @param isPaid Whether it paid and was answered: all behind it cost nothing, and go on at once.
   * Else the next of them goes first.
   */
  function leave(charge: Charge, isPaid: boolean): void {
    const name = nameOf(charge);
    if (name === undefined || !paying.delete(charge)) return;
    const waiting = behind.get(name);
    behind.delete(name);
    if (!Array.isArray(waiting)) return;
    const [next, ...rest] = waiting;
    if (isPaid) for (const one of waiting) go(one);
    else if (next !== undefined) goFirst(name, next, rest);
  }

  return {
    /** A request comes: it goes on where nobody pays with its key. */
    enter(request: Waiting): void {
      const name = nameOf(request.charge);
      if (name === undefined) return go(request);
      const before = behind.get(name);
      if (before === undefined) goFirst(name, request, []);
      else if (before instanceof Error) request.reject(before);
      else {
        before.push(request);
        setTimeout(() => giveUp(name, request), timeoutMs).unref();
      }
    },

    /** Who waits and who comes is refused until the one that pays leaves. */
    refuse(charge: Charge, error: Error): void {
      const name = nameOf(charge);
      if (name === undefined || !paying.has(charge)) return;
      const waiting = behind.get(name);
      behind.set(name, error);
      if (Array.isArray(waiting)) for (const { reject } of waiting) reject(error);
    },

    leave,

    /** Those of a group leave, and none has paid. */
    leaveUnpaid(charges: readonly Charge[]): void {
      for (const charge of charges) leave(charge, false);
    },
  };
}

function nameOf({ account, payment }: Charge): string | undefined {
  return payment === undefined ? undefined : `${account} ${payment.name}`;
}
