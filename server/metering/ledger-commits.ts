/** The writes of a debit queue to its ledger. */
import type { ChangeSet } from "../store/history/change-log.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";
import type { DebitBatchResult } from "../store/accounts/debits.ts";
import type { Batch } from "./batch-committer.ts";
import { withDeadline } from "./deadline.ts";
import type { Refund } from "./refund-spool.ts";

/** The ledger, as the debit queue uses it. */
export type DebitLedger = Pick<LedgerStore, "debit" | "refundAll" | "isRolledBack" | "cancel">;

export function createLedgerCommits({
  ledger,
  now,
  timeoutMs,
  onChanges,
  onFailure,
}: {
  readonly ledger: DebitLedger;
  now(): number;
  /** How long a commit may take. */
  readonly timeoutMs: number;
  readonly onChanges: ((changes: ChangeSet) => void) | undefined;
  /** Receives why `onChanges` failed. */
  onFailure(error: unknown): void;
}) {
  let lastSequence: number | undefined;
  /** Whether the last commit of charges failed. */
  let isFailing = false;
  let runningProbe: Promise<void> | undefined;

  function reportChanges(changes: ChangeSet): void {
    try {
      onChanges?.(changes);
      lastSequence = changes.sequence;
    } catch (error) {
      // The next commit then reports that all may have changed.
      lastSequence = undefined;
      onFailure(error);
    }
  }

  return {
    /** Commits debits and refunds together. @returns The outcomes of debits, if there are any. */
    async commit(
      id: string,
      { debits, refunds: pendingRefunds }: Batch,
    ): Promise<DebitBatchResult | undefined> {
      const refunds = selectRefundsOfDebits(pendingRefunds.map(({ refund }) => refund));
      if (debits.length === 0) {
        await withDeadline(ledger.refundAll(refunds, now()), timeoutMs);
        return undefined;
      }
      const charges = debits.map(({ charge }) => charge);
      const batch = { id, now: now(), since: lastSequence, refunds };
      try {
        const result = await withDeadline(ledger.debit(charges, batch), timeoutMs);
        isFailing = false;
        reportChanges(result.changes);
        return result;
      } catch (error) {
        isFailing = true;
        throw error;
      }
    },

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
      // It writes without changing a balance.
      runningProbe ??= withDeadline(
        ledger.cancel([], Bun.randomUUIDv7(), now()),
        timeoutMs,
      ).finally(() => (runningProbe = undefined));
      await runningProbe;
      isFailing = false;
    },
  };
}

const selectRefundsOfDebits = (refunds: readonly Refund[]) =>
  refunds.filter((refund) => refund.kind === "debit");
