/**
 * Charges requests. Requests that arrive during a commit wait for the next one, so that one sync to
 * the disk commits many debits. The ledger decides each of them as if it came alone, in their order.
 */
import { DomainError } from "../../core/errors.ts";
import { InsufficientCreditsError } from "../../core/ledger.ts";
import type { ChangeSet } from "../ports/caching.ts";
import type { AccountCharge, DebitOutcome } from "../../core/stores.ts";
import type { Debit, DebitBatchResult, DebitLedger, DebitQueue, Receipt } from "../ports/ledger.ts";
import { createBatchCommitter } from "./batch-committer.ts";
import { createDeadlineError, withDeadline } from "./deadline.ts";
import { createIdempotencyLocks, type PendingDebit } from "./idempotency.ts";
import { createLedgerHealth } from "./ledger-health.ts";
import { createRefundQueue } from "./refund-queue.ts";
import { recoverRefunds } from "./refund-recovery.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

/** The parts and limits of a debit queue. */
export interface DebitQueueOptions {
  readonly ledger: DebitLedger;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  /** Receives the changes up to a commit, before its requests are answered. */
  onChanges?(changes: ChangeSet): void;
  /** Receives why a refund failed; it is retried until the service stops. */
  onFailure?(error: unknown): void;
  /** Receives the status of a request that was charged; `undefined` if it failed and is refunded. */
  onEnd?(debit: Debit, status: number | undefined): void;
  /** How long a commit may take; 10 seconds by default. */
  readonly timeoutMs?: number;
  /** Saves refunds that outlive the process; without it they are lost at its end. */
  readonly spool?: RefundSpool;
}

interface DebitReceipt extends Receipt {
  readonly charge: AccountCharge;
  /** `undefined` when nothing is debited: the key had paid before, or the debit was refunded. */
  debit: Debit | undefined;
}

/** The runtime closes a connection that is silent for 30 seconds: answer well before that. */
const COMMIT_TIMEOUT_MS = 10_000;

const ignore = () => undefined;

/** Creates the queue of debits in front of a ledger. */
export function createDebitQueue(options: DebitQueueOptions) {
  const { ledger, now, spool, timeoutMs = COMMIT_TIMEOUT_MS } = options;
  const { onChanges = ignore, onFailure = ignore, onEnd = ignore } = options;
  let lastSequence: number | undefined;
  const batchCommitter = createBatchCommitter(commit);
  const locks = createIdempotencyLocks(batchCommitter.add, timeoutMs);
  const applyRefund = createRefundApplier(ledger, now);
  const refundQueue = createRefundQueue({ apply: applyRefund, timeoutMs, onFailure, spool });
  const health = createLedgerHealth(() => probe(ledger, now(), timeoutMs));

  async function commit(batch: readonly PendingDebit[], startNext: () => void): Promise<void> {
    const charges = batch.map(({ charge }) => charge);
    const uid = Bun.randomUUIDv7();
    let result: DebitBatchResult;
    try {
      const committed = ledger.debit(charges, { uid, now: now(), since: lastSequence });
      result = await health.track(withDeadline(committed, timeoutMs));
    } catch (error) {
      startNext();
      return rejectBatch(batch, { kind: "batch", uid, charges }, error);
    }
    const { outcomes, changes } = result;
    lastSequence = changes.sequence;
    onChanges(changes);
    // The next batch is committed while the requests of this one are answered.
    startNext();
    for (const [index, request] of batch.entries()) {
      // A request that paid keeps its lock until it is answered.
      if (outcomes[index]?.kind !== "charged") locks.release([request.charge]);
      settle(request, outcomes[index], changes.sequence);
    }
  }

  /** Rejects the requests of a failed commit, and refunds them unless nothing was debited. */
  async function rejectBatch(
    batch: readonly PendingDebit[],
    refund: Extract<Refund, { kind: "batch" }>,
    error: unknown,
  ): Promise<void> {
    const isRolledBack = ledger.isRolledBack(error);
    // Saved first, so that not even a kill of the process loses it.
    if (!isRolledBack) await refundQueue.save(refund);
    for (const { reject } of batch) reject(error);
    if (isRolledBack) locks.release(refund.charges);
    else await giveBack(refund, refund.charges);
  }

  /** Refunds charges. Requests that wait for them go on if the first attempt succeeds. */
  async function giveBack(refund: Refund, charges: readonly AccountCharge[]): Promise<void> {
    if (await refundQueue.enqueue(refund, () => locks.release(charges))) return;
    for (const charge of charges) locks.rejectWaiting(charge, createDeadlineError());
  }

  return {
    debit: (charge: AccountCharge): Promise<Receipt> =>
      new Promise((resolve, reject) => locks.submit({ charge, resolve, reject })),

    complete(receipt: Receipt, status: number): void {
      const { charge, debit } = toDebitReceipt(receipt);
      if (debit !== undefined) onEnd(debit, status);
      locks.complete(charge);
    },

    /** Refunds once. If the first attempt fails, it resolves, and the queue goes on trying. */
    async refund(receipt: Receipt, reason: string): Promise<void> {
      const { charge, debit } = takeDebit(toDebitReceipt(receipt));
      if (debit === undefined) return;
      onEnd(debit, undefined);
      await giveBack({ kind: "debit", uid: Bun.randomUUIDv7(), debit, charge, reason }, [charge]);
    },

    /** Refunds what other processes saved before they ended. */
    recover: async () => (spool === undefined ? [] : recoverRefunds(spool, applyRefund)),

    /** Throws while debits cannot be committed. */
    check: health.check,

    /** Finishes running commits, and tries pending refunds once more. */
    async close(): Promise<void> {
      await batchCommitter.waitUntilIdle();
      await refundQueue.close();
    },

    /** Resolves once nothing runs any more, after the database is closed. */
    async waitUntilIdle(): Promise<void> {
      await batchCommitter.waitUntilIdle();
      await refundQueue.waitForFirstAttempts();
    },
  } satisfies DebitQueue & Record<string, unknown>;
}

/** Returns the debit of a receipt once, so that it is refunded once. */
function takeDebit(receipt: DebitReceipt): Pick<DebitReceipt, "charge" | "debit"> {
  const { charge, debit } = receipt;
  receipt.debit = undefined;
  return { charge, debit };
}

/** @throws {TypeError} When the receipt is from another queue. */
function toDebitReceipt(receipt: Receipt): DebitReceipt {
  if (!isDebitReceipt(receipt)) throw new TypeError("The receipt is not from this debit queue");
  return receipt;
}

function isDebitReceipt(receipt: Receipt): receipt is DebitReceipt {
  return "charge" in receipt && "debit" in receipt;
}

/** Writes to a ledger without any effect. */
function probe(ledger: DebitLedger, now: number, timeoutMs: number): Promise<void> {
  return withDeadline(ledger.cancel([], Bun.randomUUIDv7(), now), timeoutMs);
}

function createRefundApplier(ledger: DebitLedger, now: () => number) {
  return (refund: Refund): Promise<void> =>
    refund.kind === "debit"
      ? ledger.refund(refund.debit, refund.uid, refund.reason, now())
      : ledger.cancel(refund.charges, refund.uid, now());
}

/** Resolves or rejects a request by what the ledger decided. */
function settle(
  { charge, resolve, reject }: PendingDebit,
  outcome: DebitOutcome<Debit> | undefined,
  changeSequence: number,
): void {
  switch (outcome?.kind) {
    case "charged": {
      const { debit, balance } = outcome;
      const receipt: DebitReceipt = { charge, debit, cost: charge.cost, balance, changeSequence };
      return resolve(receipt);
    }
    case "repeated": {
      const { balance } = outcome;
      const receipt: DebitReceipt = { charge, debit: undefined, cost: 0, balance, changeSequence };
      return resolve(receipt);
    }
    case "misused":
      return reject(createKeyReuseError(charge));
    default:
      return reject(new InsufficientCreditsError(outcome?.balance ?? 0, charge.cost));
  }
}

function createKeyReuseError({ idempotencyKey }: AccountCharge): DomainError {
  return new DomainError(
    "Invalid Request",
    `The Idempotency-Key ${idempotencyKey?.value} paid for another URL or body within 24 hours`,
  );
}
