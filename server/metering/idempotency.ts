/**
 * Idempotency keys: one request at a time pays with one. Those that come meanwhile wait: until it is
 * answered, then they cost nothing; or until its debit is given back, then the next of them pays; or
 * until they have waited too long.
 */
import { createDeadlineError } from "./deadline.ts";
import type { Charge, Receipt } from "../ports/ledger.ts";

/** A request before the ledger. */
export interface PendingDebit {
  readonly charge: Charge;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes the place where requests with idempotency keys wait.
 *
 * @param forward Lets a request go on to the ledger.
 * @param timeoutMs How long one may wait.
 */
export function createIdempotencyLocks(
  forward: (request: PendingDebit) => void,
  timeoutMs: number,
) {
  /** By account and key: those behind the one that pays, or why there can be none. */
  const waitingByKey = new Map<string, PendingDebit[] | Error>();
  const lockHolders = new WeakSet<Charge>();

  function acquire(lockKey: string, request: PendingDebit, rest: PendingDebit[]): void {
    waitingByKey.set(lockKey, rest);
    lockHolders.add(request.charge);
    forward(request);
  }

  /** Refuses a request that still waits. */
  function timeOut(lockKey: string, request: PendingDebit): void {
    const waiting = waitingByKey.get(lockKey);
    const index = Array.isArray(waiting) ? waiting.indexOf(request) : -1;
    if (!Array.isArray(waiting) || index === -1) return;
    waiting.splice(index, 1);
    request.reject(createDeadlineError());
  }

  /**
   * The one that pays leaves; what is not of it does nothing here.
   *
   * @param isPaid Whether it paid and was answered: all behind it cost nothing, and go on at once.
   * Else the next of them goes first.
   */
  function release(charge: Charge, isPaid: boolean): void {
    const lockKey = getLockKey(charge);
    if (lockKey === undefined || !lockHolders.delete(charge)) return;
    const waiting = waitingByKey.get(lockKey);
    waitingByKey.delete(lockKey);
    if (!Array.isArray(waiting)) return;
    const [next, ...rest] = waiting;
    if (isPaid) for (const pending of waiting) forward(pending);
    else if (next !== undefined) acquire(lockKey, next, rest);
  }

  return {
    /** A request comes: it goes on where nobody pays with its key. */
    submit(request: PendingDebit): void {
      const lockKey = getLockKey(request.charge);
      if (lockKey === undefined) return forward(request);
      const existing = waitingByKey.get(lockKey);
      if (existing === undefined) acquire(lockKey, request, []);
      else if (existing instanceof Error) request.reject(existing);
      else {
        existing.push(request);
        setTimeout(() => timeOut(lockKey, request), timeoutMs).unref();
      }
    },

    /** Who waits and who comes is refused until the one that pays leaves. */
    rejectWaiting(charge: Charge, error: Error): void {
      const lockKey = getLockKey(charge);
      if (lockKey === undefined || !lockHolders.has(charge)) return;
      const waiting = waitingByKey.get(lockKey);
      waitingByKey.set(lockKey, error);
      if (Array.isArray(waiting)) for (const { reject } of waiting) reject(error);
    },

    leave: release,

    /** Those of a group leave, and none has paid. */
    releaseAll(charges: readonly Charge[]): void {
      for (const charge of charges) release(charge, false);
    },
  };
}

function getLockKey({ account, idempotencyKey }: Charge): string | undefined {
  return idempotencyKey === undefined ? undefined : `${account} ${idempotencyKey.value}`;
}
