/**
 * Debits: a priced request waits here until its debit is committed.
 *
 * While one commit is under way the requests that come in wait for the next, so one sync serves
 * many. The ledger decides each of them exactly, in the order they came.
 */
import { InsufficientCreditsError } from "../../core/ledger.ts";
import { DomainError } from "../../core/errors.ts";
import type { ChangeSet } from "../ports/caching.ts";
import type {
  Debit,
  DebitBatchResult,
  DebitLedger,
  DebitOutcome,
  Charge,
  Receipt,
} from "../ports/ledger.ts";
import { createRefundQueue } from "./refund-queue.ts";
import { withDeadline, createDeadlineError } from "./deadline.ts";
import { createLedgerHealth } from "./ledger-health.ts";
import { createIdempotencyLocks, type PendingDebit } from "./idempotency.ts";
import { recoverRefunds } from "./refund-recovery.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

/** What debits are made with. */
export interface DebitQueueOptions {
  readonly ledger: DebitLedger;
  /** The clock, in milliseconds. */
  now(): number;
  /** Told what was observed up to a commit, before its requests go on. */
  onChanges?(changes: ChangeSet): void;
  /** Told why something could not be given back; it is tried again until the end. */
  onFailure?(error: unknown): void;
  /** How long a commit may take; 10 seconds if left out. */
  readonly timeoutMs?: number;
  /** Keeps what could not be given back, so that it outlives the process. */
  readonly spool?: RefundSpool;
}

interface DebitReceipt extends Receipt {
  readonly charge: Charge;
  /** Until it is given back. */
  debit: Debit | undefined;
}

/** So long a client may wait; much longer, and its connection is closed for its silence. */
const COMMIT_TIMEOUT_MS = 10_000;

/** Makes the queue of debits before a ledger. */
export function createDebitQueue({
  ledger,
  now,
  onChanges = () => undefined,
  onFailure = () => undefined,
  timeoutMs = COMMIT_TIMEOUT_MS,
  spool,
}: DebitQueueOptions) {
  let lastSequence: number | undefined;
  const batchCommitter = createBatchCommitter(commit);
  const idempotencyLocks = createIdempotencyLocks(batchCommitter.add, timeoutMs);
  const apply = createRefundApplier(ledger, now);
  const refundQueue = createRefundQueue({ apply, timeoutMs, onFailure, spool });
  const ledgerHealth = createLedgerHealth(() =>
    withDeadline(ledger.cancel([], Bun.randomUUIDv7(), now()), timeoutMs),
  );

  async function commit(batch: readonly PendingDebit[], startNext: () => void): Promise<void> {
    const charges = batch.map(({ charge }) => charge);
    const uid = Bun.randomUUIDv7();
    let result: DebitBatchResult;
    try {
      const committed = ledger.debit(charges, { uid, now: now(), since: lastSequence });
      result = await ledgerHealth.track(withDeadline(committed, timeoutMs));
    } catch (error) {
      startNext();
      const isRolledBack = ledger.isRolledBack(error);
      const refund = { kind: "group", uid, charges } as const;
      if (!isRolledBack) await refundQueue.keep(refund);
      for (const { reject } of batch) reject(error);
      return isRolledBack ? idempotencyLocks.releaseAll(charges) : giveBack(refund, charges);
    }
    const { outcomes, changes } = result;
    lastSequence = changes.sequence;
    onChanges(changes);
    // The next group is on its way while the answers of this one are made.
    startNext();
    for (const [index, request] of batch.entries()) {
      // Who waits behind it is decided by the ledger alone: what was paid before may be forgotten.
      if (outcomes[index]?.kind !== "charged") idempotencyLocks.leave(request.charge, false);
      settlePending(request, outcomes[index], changes.sequence);
    }
  }

  /** Gives back what requests were charged; those behind them wait for it if it works at once. */
  async function giveBack(refund: Refund, charges: readonly Charge[]): Promise<void> {
    if (await refundQueue.enqueue(refund, () => idempotencyLocks.releaseAll(charges))) return;
    for (const charge of charges) idempotencyLocks.rejectWaiting(charge, createDeadlineError());
  }

  const toDebitReceipt = (receipt: Receipt) => receipt as DebitReceipt;

  return {
    /**
     * Charges a request; resolves once its debit is committed. What is paid with an idempotency key
     * is then to be kept or refunded: others may wait for it.
     *
     * @throws {DomainError} `Insufficient Credits`, or `Invalid Request` for an idempotency key
     * that paid for something else; nothing was debited then. `Service Unavailable` where it
     * cannot be committed in time; it is given back then, if it is committed later.
     */
    debit: (charge: Charge): Promise<Receipt> =>
      new Promise((resolve, reject) => {
        idempotencyLocks.submit({ charge, resolve, reject });
      }),

    /** The request was answered: its debit stays. */
    complete: (receipt: Receipt): void =>
      idempotencyLocks.leave(toDebitReceipt(receipt).charge, true),

    /**
     * Gives the debit of a request back that could not be answered, once. Where that fails, it goes
     * on being tried after this has ended.
     */
    async refund(receipt: Receipt, reason: string): Promise<void> {
      const debitReceipt = toDebitReceipt(receipt);
      const { charge, debit } = debitReceipt;
      if (debit === undefined) return;
      debitReceipt.debit = undefined;
      await giveBack({ kind: "debit", uid: Bun.randomUUIDv7(), debit, charge, reason }, [charge]);
    },

    /** Gives back what other processes kept. */
    recover: async () => (spool === undefined ? [] : recoverRefunds(spool, apply)),

    /** Throws while debits cannot be committed, as far as that was seen. */
    check: ledgerHealth.check,

    /** Ends what is under way, and tries once more to give back what could not be. */
    async close(): Promise<void> {
      await batchCommitter.waitUntilIdle();
      await refundQueue.close();
    },

    /** Resolves once nothing is under way, after the database is closed: the rest is kept. */
    async waitUntilIdle(): Promise<void> {
      await batchCommitter.waitUntilIdle();
      await refundQueue.waitForFirstAttempts();
    },
  };
}

/** How refunds are given back at a ledger. */
function createRefundApplier(ledger: DebitLedger, now: () => number) {
  return (refund: Refund): Promise<void> =>
    refund.kind === "debit"
      ? ledger.refund(refund.debit, refund.uid, refund.reason, now())
      : ledger.cancel(refund.charges, refund.uid, now());
}

/** Tells a request what the ledger decided. */
function settlePending(
  { charge, resolve, reject }: PendingDebit,
  outcome: DebitOutcome | undefined,
  sequence: number,
): void {
  const result = toReceipt(charge, outcome, sequence);
  if (result instanceof DomainError) reject(result);
  else resolve(result);
}

/** What a request gets of its outcome. */
function toReceipt(
  charge: Charge,
  outcome: DebitOutcome | undefined,
  sequence: number,
): DebitReceipt | DomainError {
  switch (outcome?.kind) {
    case "charged": {
      const { debit, balance } = outcome;
      return { charge, debit, cost: charge.cost, balance, changeSequence: sequence };
    }
    case "repeated":
      return {
        charge,
        debit: undefined,
        cost: 0,
        balance: outcome.balance,
        changeSequence: sequence,
      };
    case "misused":
      return createKeyReuseError(charge);
    default:
      return new InsufficientCreditsError(outcome?.balance ?? 0, charge.cost);
  }
}

/**
 * Gathers requests in groups: those of one turn of the event loop, then those that come while a
 * group is committed.
 *
 * @param commit Commits a group, and says when the next one may be.
 */
function createBatchCommitter(
  commit: (group: readonly PendingDebit[], next: () => void) => Promise<void>,
) {
  let waiting: PendingDebit[] = [];
  let isCommitting = false;
  /** The commits that have not ended, which includes what they give back. */
  const activeCommits = new Set<Promise<void>>();

  function next(): void {
    isCommitting = waiting.length > 0;
    if (!isCommitting) return;
    const group = waiting;
    waiting = [];
    const done = commit(group, next).finally(() => activeCommits.delete(done));
    activeCommits.add(done);
  }

  return {
    add(pending: PendingDebit): void {
      waiting.push(pending);
      if (isCommitting) return;
      isCommitting = true;
      setImmediate(next);
    },

    /** Resolves once all groups that are there have ended. */
    async waitUntilIdle(): Promise<void> {
      do {
        // A group of this turn of the event loop begins with the next.
        await new Promise(setImmediate);
        await Promise.allSettled(activeCommits);
      } while (activeCommits.size > 0);
    },
  };
}

function createKeyReuseError({ idempotencyKey }: Charge): DomainError {
  return new DomainError(
    "Invalid Request",
    `The Idempotency-Key ${idempotencyKey?.value} paid for another URL within 24 hours`,
  );
}
