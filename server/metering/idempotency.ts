/**
 * Locks idempotency keys, so that one request at a time pays with each. Other requests with the key
 * wait until that request is answered (then they cost nothing, and do not count as repeats), until
 * its debit is refunded (then the next one pays), or until they have waited too long.
 */
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import { createDeadlineError } from "./deadline.ts";
import type { PendingDebit } from "./group-commit.ts";

type Lock = Readonly<{ name: string; waiting: Set<PendingDebit> }> & { isRejecting?: true };

/**
 * Creates the locks. They forward requests to the ledger; those without an idempotency key at once.
 */
export function createIdempotencyLocks(
  forward: (request: PendingDebit) => void,
  timeoutMs: number,
) {
  const locks = new Map<string, Lock>();
  const locksOfHolders = new WeakMap<AccountCharge, Lock>();

  function acquire(name: string, request: PendingDebit, waiting: Lock["waiting"]): void {
    const lock = { name, waiting };
    locks.set(name, lock);
    locksOfHolders.set(request.charge, lock);
    forward(request);
  }

  function unlock(charge: AccountCharge): Lock | undefined {
    if (charge.idempotencyKey === undefined) return undefined;
    const lock = locksOfHolders.get(charge);
    if (lock === undefined) return undefined;
    locksOfHolders.delete(charge);
    locks.delete(lock.name);
    return lock;
  }

  /** Waits for the request that pays, but not longer than the timeout. */
  function wait(request: PendingDebit, { waiting }: Lock): void {
    waiting.add(request);
    const rejectLate = () => {
      if (waiting.delete(request)) request.reject(createDeadlineError());
    };
    setTimeout(rejectLate, timeoutMs).unref();
  }

  return {
    submit(request: PendingDebit): void {
      const { account, idempotencyKey } = request.charge;
      if (idempotencyKey === undefined) return forward(request);
      const name = `${account} ${idempotencyKey.value}`;
      const lock = locks.get(name);
      if (lock === undefined) return acquire(name, request, new Set());
      if (lock.isRejecting) return request.reject(createDeadlineError());
      wait(request, lock);
    },

    /** Rejects all waiting and new requests with this key until the paying request finishes. */
    rejectWaiting(charge: AccountCharge): void {
      const lock = locksOfHolders.get(charge);
      if (lock === undefined) return;
      lock.isRejecting = true;
      for (const { reject } of lock.waiting) reject(createDeadlineError());
      lock.waiting.clear();
    },

    /** The charge was paid and answered: forwards all waiting requests, which cost nothing. */
    complete(charge: AccountCharge): void {
      const waiting = unlock(charge)?.waiting;
      for (const request of waiting ?? []) {
        forward({ ...request, charge: { ...request.charge, hasWaited: true } });
      }
      waiting?.clear();
    },

    /** The charge was not paid, or refunded: the next waiting request pays. */
    release(charge: AccountCharge): void {
      const lock = unlock(charge);
      const [next] = lock?.waiting ?? [];
      if (lock === undefined || next === undefined) return;
      lock.waiting.delete(next);
      acquire(lock.name, next, lock.waiting);
    },
  };
}
