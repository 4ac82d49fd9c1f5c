/**
 * Locks idempotency keys, so that one request at a time pays with each. The others wait until it is
 * answered (then they cost nothing, and do not count as repeats), until its debit is refunded (then the
 * next one pays), or until they have waited too long.
 */
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import type { PendingDebit } from "./batch-committer.ts";
import { createDeadlineError } from "./deadline.ts";

export type IdempotencyLocks = ReturnType<typeof createIdempotencyLocks>;

/**
 * Creates the locks. Charges without an idempotency key pass through.
 *
 * @param forward Sends a request on to the ledger.
 * @param timeoutMs How long a request may wait.
 */
export function createIdempotencyLocks(
  forward: (request: PendingDebit) => void,
  timeoutMs: number,
) {
  /** By account and key: the waiting requests, or the error with which new ones are rejected. */
  const waitingByKey = new Map<string, PendingDebit[] | Error>();
  const lockHolders = new WeakSet<AccountCharge>();

  function acquire(lockKey: string, request: PendingDebit, waiting: PendingDebit[]): void {
    waitingByKey.set(lockKey, waiting);
    lockHolders.add(request.charge);
    forward(request);
  }

  /** Unlocks the key of a charge. @returns The requests that waited for it. */
  function unlock(lockKey: string | undefined, charge: AccountCharge): PendingDebit[] {
    if (lockKey === undefined || !lockHolders.delete(charge)) return [];
    const waiting = waitingByKey.get(lockKey);
    waitingByKey.delete(lockKey);
    return Array.isArray(waiting) ? waiting : [];
  }

  function rejectLate(lockKey: string, request: PendingDebit): void {
    const waiting = waitingByKey.get(lockKey);
    const index = Array.isArray(waiting) ? waiting.indexOf(request) : -1;
    if (!Array.isArray(waiting) || index === -1) return;
    waiting.splice(index, 1);
    request.reject(createDeadlineError());
  }

  return {
    /** Forwards a request, at once or when its idempotency key is free. */
    submit(request: PendingDebit): void {
      const lockKey = getLockKey(request.charge);
      if (lockKey === undefined) return forward(request);
      const waiting = waitingByKey.get(lockKey);
      if (waiting === undefined) acquire(lockKey, request, []);
      else if (waiting instanceof Error) request.reject(waiting);
      else {
        waiting.push(request);
        setTimeout(() => rejectLate(lockKey, request), timeoutMs).unref();
      }
    },

    /** Rejects all waiting and new requests with this key until the paying request finishes. */
    rejectWaiting(charge: AccountCharge, error: Error): void {
      const lockKey = getLockKey(charge);
      if (lockKey === undefined || !lockHolders.has(charge)) return;
      const waiting = waitingByKey.get(lockKey);
      waitingByKey.set(lockKey, error);
      if (Array.isArray(waiting)) for (const { reject } of waiting) reject(error);
    },

    /** The charge was paid and answered: forwards all waiting requests, which cost nothing. */
    complete(charge: AccountCharge): void {
      for (const request of unlock(getLockKey(charge), charge)) {
        forward({ ...request, charge: { ...request.charge, hasWaited: true } });
      }
    },

    /** The charges were not paid, or refunded: the next waiting request of each pays. */
    release(charges: readonly AccountCharge[]): void {
      for (const charge of charges) {
        const lockKey = getLockKey(charge);
        const [next, ...rest] = unlock(lockKey, charge);
        if (lockKey !== undefined && next !== undefined) acquire(lockKey, next, rest);
      }
    },
  };
}

function getLockKey({ account, idempotencyKey }: AccountCharge): string | undefined {
  return idempotencyKey === undefined ? undefined : `${account} ${idempotencyKey.value}`;
}
