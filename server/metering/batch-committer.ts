/** Gathers pending debits and refunds in batches, and commits one batch at a time. */
import type { PendingDebit } from "./idempotency.ts";
import { GROUP_MAX_SIZE } from "./refund-groups.ts";
import type { PendingRefund } from "./refund-queue.ts";

/** What one commit debits and refunds. */
export interface Batch {
  readonly debits: readonly PendingDebit[];
  readonly refunds: readonly PendingRefund[];
}

/** The parts of a batch committer. */
export interface BatchCommitterOptions {
  /** Takes a group of the refunds that wait. */
  takeRefunds(): readonly PendingRefund[];
  /** Ends a debit whose client left while it waited. It is in no batch. */
  drop(debit: PendingDebit): void;
  /** Commits a batch, and calls `startNext` as soon as the next commit may start. */
  commit(batch: Batch, startNext: () => void): Promise<void>;
}

/**
 * Creates the committer. The first batch holds the requests of one turn of the event loop, the next
 * one those that arrive while it is committed.
 */
export function createBatchCommitter({ takeRefunds, drop, commit }: BatchCommitterOptions) {
  const waiting: PendingDebit[] = [];
  let isCommitting = false;
  /** The calls of `commit` that run: more than one, since they go on after `startNext`. */
  const runningCommits = new Set<Promise<void>>();

  /** As many as refunds, at most. Only debits cause refunds, so refunds never pile up. */
  function takeDebits(): PendingDebit[] {
    const debits: PendingDebit[] = [];
    // A dropped debit can let another one enter the queue.
    while (waiting.length > 0 && debits.length < GROUP_MAX_SIZE) {
      for (const debit of waiting.splice(0, GROUP_MAX_SIZE - debits.length)) {
        if (debit.signal?.aborted === true) drop(debit);
        else debits.push(debit);
      }
    }
    return debits;
  }

  function startNext(): void {
    const batch = { debits: takeDebits(), refunds: takeRefunds() };
    isCommitting = batch.debits.length + batch.refunds.length > 0;
    if (!isCommitting) return;
    const running = commit(batch, startNext).finally(() => runningCommits.delete(running));
    runningCommits.add(running);
  }

  /** Starts a commit in the next turn of the event loop, unless one runs. */
  function wake(): void {
    if (isCommitting) return;
    isCommitting = true;
    setImmediate(startNext);
  }

  return {
    add(debit: PendingDebit): void {
      waiting.push(debit);
      wake();
    },

    /** Must be called when a refund waits. */
    wake,

    /** Resolves once every batch is committed. */
    async waitUntilIdle(): Promise<void> {
      do {
        // A batch of this turn of the event loop starts in the next one.
        await new Promise(setImmediate);
        await Promise.allSettled(runningCommits);
      } while (runningCommits.size > 0);
    },
  };
}
