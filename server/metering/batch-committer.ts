/** Gathers pending debits in batches, and commits one batch at a time. */
import type { PendingDebit } from "./idempotency.ts";

/**
 * Creates the committer. The first batch holds the requests of one turn of the event loop, the next
 * one those that arrive while it is committed.
 *
 * @param commit Commits a batch, and calls `startNext` as soon as the next commit may start.
 */
export function createBatchCommitter(
  commit: (batch: readonly PendingDebit[], startNext: () => void) => Promise<void>,
) {
  let waiting: PendingDebit[] = [];
  let isCommitting = false;
  /** The calls of `commit` that run: more than one, since they go on after `startNext`. */
  const runningCommits = new Set<Promise<void>>();

  function startNext(): void {
    isCommitting = waiting.length > 0;
    if (!isCommitting) return;
    const batch = waiting;
    waiting = [];
    const running = commit(batch, startNext).finally(() => runningCommits.delete(running));
    runningCommits.add(running);
  }

  return {
    add(request: PendingDebit): void {
      waiting.push(request);
      if (isCommitting) return;
      isCommitting = true;
      setImmediate(startNext);
    },

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
