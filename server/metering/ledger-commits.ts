/** Commits batches of debits and refunds in the ledger, and reports the changes that it lists. */
import type { LedgerStore } from "../store/accounts/ledger.ts";
import type { CommitChangeSet } from "../store/history/commit-changes.ts";
import { createCommitObserver } from "./commit-observer.ts";
import { withDeadline } from "./deadline.ts";
import type { Batch } from "./group-commit.ts";
import type { Refund } from "./refund-spool.ts";

export type DebitBatchResult = Awaited<ReturnType<LedgerStore["debit"]>>;

export interface LedgerCommitOptions {
  readonly ledger: Pick<LedgerStore, "debit" | "readChanges" | "refundAll" | "cancel">;
  now(): number;
  /**
   * Receives the changes up to a commit, before its requests are answered, and when the commit
   * began.
   */
  onChanges?(changes: CommitChangeSet, startedAt: number): void;
}

/** @param onFailure Receives the error of a listener. */
export function createLedgerCommits(
  { ledger, now, onChanges }: LedgerCommitOptions,
  timeoutMs: number,
  onFailure: (error: unknown) => void,
) {
  const observer = createCommitObserver();
  let lastSequence: number | undefined;
  let isFailing = false;
  let runningProbe: Promise<void> | undefined;

  /** @param since The last change that was known when the commit began. */
  function reportChanges(changes: CommitChangeSet, startedAt: number, since = 0): void {
    // A server that lost changes counts on from an earlier number: then all may have changed.
    const isContinued = changes.sequence >= since;
    // A later commit was answered before this one, and its changes have these among them.
    if (isContinued && changes.sequence < (lastSequence ?? 0)) return;
    try {
      onChanges?.(changes, startedAt);
      lastSequence = changes.sequence;
    } catch (error) {
      // The next commit then reports that all may have changed.
      lastSequence = undefined;
      onFailure(error);
    }
  }

  async function commit(
    id: string,
    { debits, ...pending }: Batch,
  ): Promise<DebitBatchResult | undefined> {
    const refunds = selectRefundsOfDebits(pending.refunds.map(({ refund }) => refund));
    if (debits.length === 0) {
      await withDeadline(ledger.refundAll(refunds, now()), timeoutMs);
      return undefined;
    }
    const charges = debits.map(({ charge }) => charge);
    const batch = { id, now: now(), since: lastSequence, refunds };
    try {
      const result = await withDeadline(ledger.debit(charges, batch), timeoutMs);
      isFailing = false;
      reportChanges(result.changes, batch.now, batch.since);
      return result;
    } catch (error) {
      isFailing = true;
      throw error;
    }
  }

  return {
    counts: observer.counts,
    commit: (id: string, batch: Batch) => observer.observe(id, batch, () => commit(id, batch)),

    /** Reports the changes until now. @returns The number of the last one. */
    async readChanges(): Promise<number> {
      const [since, startedAt] = [lastSequence, now()];
      const changes = await withDeadline(ledger.readChanges(since), timeoutMs);
      reportChanges(changes, startedAt, since);
      return changes.sequence;
    },

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
      // An empty cancellation writes without changing a balance.
      const probe = () => withDeadline(ledger.cancel([], Bun.randomUUIDv7(), now()), timeoutMs);
      runningProbe ??= probe().finally(() => (runningProbe = undefined));
      await runningProbe;
      isFailing = false;
    },
  };
}

const selectRefundsOfDebits = (refunds: readonly Refund[]) =>
  refunds.filter((refund) => refund.kind === "debit");
