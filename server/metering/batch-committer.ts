/** Gathers pending debits and refunds in batches, and commits one batch at a time. */
import type { AccountCharge } from "../../core/stores.ts";
import { GROUP_MAX_SIZE } from "./refund-groups.ts";
import type { PendingRefund } from "./refund-queue.ts";

/** Proof of a committed charge. */
export interface Receipt {
  /** 0 if an earlier request paid with the same idempotency key. */
  readonly cost: number;
  /** The account's balance after the charge. */
  readonly balance: number;
  /** The number of the last change when the charge was committed. */
  readonly changeSequence: number;
}

/** A charge that waits for its receipt. */
export interface PendingDebit {
  readonly charge: AccountCharge;
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal | undefined;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/** What one commit debits and refunds. */
export interface Batch {
  readonly debits: readonly PendingDebit[];
  readonly refunds: readonly PendingRefund[];
  /** Whether others left while they waited, so some of these have probably left, too. */
  readonly areClientsLeaving: boolean;
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
 * Waits until the event loop has looked at all connections, and aborted the signals of those that
 * closed. The first callback comes before that.
 */
export const lookAtConnections = (): Promise<void> =>
  new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

const hasLeft = ({ signal }: PendingDebit): boolean => signal?.aborted === true;

/**
 * Creates the committer. The first batch holds the requests of one turn of the event loop, the next
 * one those that arrive while it is committed.
 */
export function createBatchCommitter({ takeRefunds, drop, commit }: BatchCommitterOptions) {
  let waiting: PendingDebit[] = [];
  /** From the first debit or refund that waits until none is left. */
  let isCommitting = false;
  /** The calls of `commit` that run: more than one, since they go on after `startNext`. */
  const runningCommits = new Set<Promise<void>>();

  const isIdle = () => !isCommitting && runningCommits.size === 0;

  /** Drops the debits whose clients have left. @returns Whether there were any. */
  function dropLeft(): boolean {
    if (!waiting.some(hasLeft)) return false;
    const debits = waiting;
    // A dropped debit can let another one enter the queue.
    waiting = [];
    for (const debit of debits) {
      if (hasLeft(debit)) drop(debit);
      else waiting.push(debit);
    }
    return true;
  }

  /** Starts a commit of what waits. While clients leave, it looks for more of them first. */
  function startNext(): void {
    if (dropLeft()) void startAfterLook();
    else start({ areClientsLeaving: false });
  }

  async function startAfterLook(): Promise<void> {
    await lookAtConnections();
    dropLeft();
    start({ areClientsLeaving: true });
  }

  function start({ areClientsLeaving }: Pick<Batch, "areClientsLeaving">): void {
    // Only debits cause refunds: as a batch takes as many of these, they never pile up.
    const debits = waiting.splice(0, GROUP_MAX_SIZE);
    const batch = { debits, refunds: takeRefunds(), areClientsLeaving };
    isCommitting = debits.length + batch.refunds.length > 0;
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
      } while (!isIdle());
    },
  };
}
