/** The writes of a debit queue to its ledger, each with a limit of time. */
import type { LedgerStore } from "../store/accounts/ledger.ts";
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import type { DebitBatchResult } from "../store/accounts/debits.ts";
import type { DebitRefund } from "../store/accounts/refund-sql.ts";
import { withDeadline } from "./deadline.ts";
import type { Refund } from "./refund-spool.ts";

/** The ledger, as the debit queue uses it. */
export type DebitLedger = Pick<LedgerStore, "debit" | "refundAll" | "isRolledBack" | "cancel">;

/** @param now The clock, in milliseconds since 1970 UTC. */
export function createLedgerCommits(ledger: DebitLedger, now: () => number, timeoutMs: number) {
  let lastSequence: number | undefined;
  /** Whether the last commit of charges failed. */
  let isFailing = false;
  let runningProbe: Promise<void> | undefined;

  /** Writes to the ledger without changing a balance. */
  const probe = () => withDeadline(ledger.cancel([], Bun.randomUUIDv7(), now()), timeoutMs);

  return {
    /** Commits charges and refunds together. @returns The outcomes of charges, if there are any. */
    async commit(
      uid: string,
      charges: readonly AccountCharge[],
      refunds: readonly Refund[],
    ): Promise<DebitBatchResult | undefined> {
      const refundsOfDebits = selectRefundsOfDebits(refunds);
      if (charges.length === 0) {
        await withDeadline(ledger.refundAll(refundsOfDebits, now()), timeoutMs);
        return undefined;
      }
      const batch = { id: uid, now: now(), since: lastSequence, refunds: refundsOfDebits };
      try {
        const result = await withDeadline(ledger.debit(charges, batch), timeoutMs);
        isFailing = false;
        lastSequence = result.changes.sequence;
        return result;
      } catch (error) {
        isFailing = true;
        throw error;
      }
    },

    /** Makes the next commit report unknown changes. */
    forgetChanges: (): void => void (lastSequence = undefined),

    /** Applies refunds of debits and of batches, without a limit of time. */
    async applyRefunds(refunds: readonly Refund[]): Promise<void> {
      const refundsOfDebits = selectRefundsOfDebits(refunds);
      if (refundsOfDebits.length > 0) await ledger.refundAll(refundsOfDebits, now());
      for (const refund of refunds) {
        if (refund.kind === "batch") await ledger.cancel(refund.charges, refund.uid, now());
      }
    },

    /** Throws while debits cannot be committed. After a failure it probes, once for all callers. */
    async check(): Promise<void> {
      if (!isFailing) return;
      runningProbe ??= probe().finally(() => (runningProbe = undefined));
      await runningProbe;
      isFailing = false;
    },
  };
}

function selectRefundsOfDebits(refunds: readonly Refund[]): readonly DebitRefund[] {
  return refunds.flatMap((refund) => (refund.kind === "debit" ? [refund] : []));
}
