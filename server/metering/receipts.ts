/** The receipts of the debit queue: a request gets one for its debit, and is refunded with it. */
import { createInsufficientCreditsError, DomainError } from "../../core/errors.ts";
import type { DebitOutcome } from "../../core/stores.ts";
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import type { DebitBatchResult } from "../store/accounts/debits.ts";
import type { Debit } from "../store/accounts/refunds.ts";
import { CLOSED_CONNECTION_REASON } from "../stored-names.ts";
import type { PendingDebit, Receipt } from "./batch-committer.ts";
import type { createIdempotencyLocks } from "./idempotency.ts";
import type { DebitLedger } from "./ledger-commits.ts";
import type { createRefundQueue } from "./refund-queue.ts";

/** Settles and refunds batches. Requests with the same idempotency keys wait for that. */
export function createReceipts(
  { isRolledBack }: Pick<DebitLedger, "isRolledBack">,
  refundQueue: ReturnType<typeof createRefundQueue>,
  locks: ReturnType<typeof createIdempotencyLocks>,
  onRefund: (debit: Debit) => void,
) {
  async function refundDebit({ charge, debit }: Receipt, reason: string): Promise<void> {
    if (debit === undefined) return;
    onRefund(debit);
    await refundQueue.enqueue({ kind: "debit", uid: Bun.randomUUIDv7(), debit, charge, reason });
  }

  /** Refunds once; resolves after the first attempt. */
  const refundReceipt = (receipt: Receipt, reason: string): Promise<void> =>
    (receipt.refunded ??= refundDebit(receipt, reason));

  return {
    refundReceipt,

    /**
     * Resolves or rejects the requests of a committed batch.
     *
     * @returns The charges that were not paid. One that was keeps its lock until it is answered.
     */
    settleBatch(
      debits: readonly PendingDebit[],
      { outcomes, changes }: DebitBatchResult,
    ): AccountCharge[] {
      const unpaid: AccountCharge[] = [];
      for (const [index, pending] of debits.entries()) {
        const receipt = settleDebit(pending, outcomes[index], changes.sequence);
        if (receipt?.debit === undefined) unpaid.push(pending.charge);
        // The next batch takes the refund along: a kill of the process leaves few of them behind.
        else if (pending.signal?.aborted === true) {
          void refundReceipt(receipt, CLOSED_CONNECTION_REASON);
        }
      }
      return unpaid;
    },

    /** Rejects the requests of a failed commit, and refunds them unless nothing was debited. */
    async rejectBatch(debits: readonly PendingDebit[], uid: string, error: unknown): Promise<void> {
      const charges = debits.map(({ charge }) => charge);
      const refund = { kind: "batch", uid, charges } as const;
      const isUndone = isRolledBack(error);
      // Saved first, so that not even a kill of the process loses it.
      if (!isUndone) await refundQueue.save(refund);
      for (const { reject } of debits) reject(error);
      if (isUndone) charges.forEach(locks.release);
      else await refundQueue.applyNow(refund);
    },
  };
}

/** Resolves or rejects a request as the ledger decided. @returns Its receipt, if it has one. */
function settleDebit(
  { charge, resolve, reject }: PendingDebit,
  outcome: DebitOutcome<Debit> | undefined,
  changeSequence: number,
): Receipt | undefined {
  if (outcome?.kind === "charged" || outcome?.kind === "repeated") {
    const debit = outcome.kind === "charged" ? outcome.debit : undefined;
    const cost = debit === undefined ? 0 : charge.cost;
    const receipt: Receipt = { charge, debit, cost, balance: outcome.balance, changeSequence };
    resolve(receipt);
    return receipt;
  }
  if (outcome?.kind === "misused") {
    const key = charge.idempotencyKey?.value;
    const message = `The Idempotency-Key ${key} paid for another URL or body within 24 hours`;
    reject(new DomainError("Invalid Request", message));
  } else reject(createInsufficientCreditsError(outcome?.balance ?? 0, charge.cost));
  return undefined;
}
