/** Commits pending debits and refunds in batches, without the debits of clients that have left. */
import type { Span } from "@opentelemetry/api";
import { createCommitPacer, ONE_AT_A_TIME, type CommitPacing } from "../commit-pacer.ts";
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import type { Debit } from "../store/accounts/refunds.ts";
import { GROUP_MAX_SIZE, type createRefundQueue } from "./refund-queue.ts";

/** Proof of a committed charge, or that none is due. */
export interface Receipt {
  /** 0 if an earlier request paid with the same idempotency key. */
  readonly cost: number;
  /** The account's balance after the charge; absent if no account is charged. */
  readonly balance?: number;
  readonly changeSequence: number;
  /** Absent if no account is charged. */
  readonly charge?: AccountCharge;
  /** `undefined` when nothing is debited: an earlier request had paid, or no account pays. */
  readonly debit: Debit | undefined;
  /** Resolves after the first attempt to refund the debit; absent unless it is refunded. */
  refunded?: Promise<void>;
}

export interface PendingDebit {
  readonly charge: AccountCharge;
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal | undefined;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
  /** The span of the debit; `undefined` if tracing is off. */
  readonly span?: Span | undefined;
}

export interface Batch {
  readonly debits: readonly PendingDebit[];
  readonly refunds: ReturnType<ReturnType<typeof createRefundQueue>["takeGroup"]>;
  /** Whether clients left in the last second, so clients of this batch have probably left, too. */
  readonly areClientsLeaving: boolean;
}

interface GroupCommitOptions {
  takeRefunds(): Batch["refunds"];
  /** Ends a debit whose client left while the debit waited. The debit is in no batch. */
  drop(debit: PendingDebit): void;
  commit(batch: Batch, startNext: () => void): Promise<void>;
  /** By default, a commit starts when the one before has ended. */
  readonly pacing?: CommitPacing | undefined;
}

/** Waits until the event loop has run all callbacks of this turn, before it polls the sockets. */
export const waitForEndOfTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/**
 * Waits for a poll of all sockets, which aborts the signals of requests whose connections closed.
 */
export async function waitForSocketPoll(): Promise<void> {
  await waitForEndOfTurn();
  await waitForEndOfTurn();
}

const hasLeft = ({ signal }: PendingDebit): boolean => signal?.aborted === true;

/** Creates a set of running tasks. A task leaves the set when it ends. */
function createTaskSet() {
  const running = new Set<Promise<void>>();
  return {
    track(task: Promise<void>): void {
      const tracked = task.finally(() => running.delete(tracked));
      running.add(tracked);
    },
    isEmpty: () => running.size === 0,
    waitForAll: () => Promise.allSettled(running),
  };
}

/** For this time after a client left, others probably leave too. */
const LEAVING_MS = 1000;

/** Observes whether clients leave, as far as dropped debits and refunds tell. */
function createLeavingObserver() {
  /** When the last client left; `undefined` if long ago, so that nobody reads the clock. */
  let lastLeftAt: number | undefined;
  return {
    noteLeft: () => void (lastLeftAt = performance.now()),
    areClientsLeaving(): boolean {
      if (lastLeftAt === undefined) return false;
      if (performance.now() - lastLeftAt < LEAVING_MS) return true;
      lastLeftAt = undefined;
      return false;
    },
  };
}

/** Batches of up to this size need no poll. */
const SMALL_BATCH_SIZE = 8;

/**
 * Creates the group commit. The first batch holds the requests of one turn of the event loop, the
 * next batch the requests that arrive during its commit, and those of the clients that it answers
 * and that send their next request at once.
 *
 * While clients leave, a debit enters a batch after the next poll of the sockets. The runtime reads
 * a request as soon as it accepts the connection, even if the client has reset that connection, and
 * learns of the reset by the next poll. After a poll, a client that resets each connection before
 * it opens the next one has one request here. Without polls, a batch held up to 256 requests of 32
 * such clients, and a kill left them charged. The poll delays a batch by two turns of the event
 * loop, so debits skip it as long as no client leaves. When clients begin to leave, or requests pile
 * up, one poll for the whole batch finds the clients that left.
 */
export function createGroupCommit({
  takeRefunds,
  drop,
  commit,
  pacing = ONE_AT_A_TIME,
}: GroupCommitOptions) {
  /** Debits whose sockets are to be polled before they enter a batch. */
  const arriving: PendingDebit[] = [];
  /** Debits for the next batch. */
  const waiting: PendingDebit[] = [];
  /** The size of recent batches, an upper bound: it halves with each batch that is smaller. */
  let recentSize = 0;
  /** The batches whose sockets are polled. */
  let pollingCount = 0;
  /** Running polls and commits. A commit goes on after it calls `startNext`, so several can run. */
  const tasks = createTaskSet();
  const pacer = createCommitPacer(pacing, startNext);
  const { areClientsLeaving, noteLeft } = createLeavingObserver();

  async function admitAfterPoll(): Promise<void> {
    await waitForEndOfTurn();
    const polled = arriving.splice(0);
    await waitForEndOfTurn();
    waiting.push(...polled);
    pacer.startIfReady();
  }

  /** Drops debits whose clients left. @returns The other debits. */
  function dropLeft(debits: PendingDebit[]): PendingDebit[] {
    if (!debits.some(hasLeft)) return debits;
    noteLeft();
    debits.filter(hasLeft).forEach(drop);
    return debits.filter((debit) => !hasLeft(debit));
  }

  /**
   * Starts a commit. When clients begin to leave or requests pile up, a poll precedes it.
   *
   * @returns The number of debits and refunds.
   */
  function startNext(end: () => void): number {
    const wereClientsLeaving = areClientsLeaving();
    const debits = dropLeft(waiting.splice(0));
    // Only debits cause refunds, and a batch takes as many refunds as debits: they never pile up.
    const refunds = takeRefunds();
    const count = debits.length + refunds.length;
    if (count === 0) return 0;
    if (refunds.length > 0) noteLeft();
    const isBurst = debits.length > Math.max(SMALL_BATCH_SIZE, 2 * recentSize);
    const isOnset = !wereClientsLeaving && (areClientsLeaving() || isBurst);
    if (isOnset) tasks.track(poll().then(() => start(dropLeft(debits), refunds, end)));
    else start(debits, refunds, end);
    return count;
  }

  async function poll(): Promise<void> {
    pollingCount++;
    await waitForSocketPoll().finally(() => pollingCount--);
  }

  function start(received: PendingDebit[], refunds: Batch["refunds"], end: () => void): void {
    const debits = received.splice(0, GROUP_MAX_SIZE);
    waiting.unshift(...received);
    recentSize = Math.max(debits.length, recentSize / 2);
    const batch = { debits, refunds, areClientsLeaving: areClientsLeaving() };
    if (debits.length + refunds.length > 0) tasks.track(commit(batch, end));
    else end();
    if (waiting.length > 0) pacer.wake();
  }

  return {
    /** Starts a commit after this turn, or after those in flight: a refund waits. */
    wake: pacer.wake,

    add(debit: PendingDebit): void {
      if (pollingCount === 0 && !areClientsLeaving()) {
        waiting.push(debit);
        pacer.wake();
      } else if (arriving.push(debit) === 1) tasks.track(admitAfterPoll());
    },

    /** How many debits are in no batch yet. */
    countWaiting: (): number => arriving.length + waiting.length,

    /** Resolves once every batch is committed. */
    async waitUntilIdle(): Promise<void> {
      do {
        // Refunds of this turn of the event loop start a batch in the next turn.
        await waitForEndOfTurn();
        await tasks.waitForAll();
      } while (!pacer.isIdle() || !tasks.isEmpty());
    },
  };
}
