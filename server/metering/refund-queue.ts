/**
 * Queues refunds. They wait for the next commit of the ledger, which takes a group of them along.
 * Failed refunds are retried in groups of their own until they succeed or the service stops.
 */
import { withDeadline } from "./deadline.ts";
import { applyInGroups, GROUP_MAX_SIZE, type GroupFailure } from "./refund-groups.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

/** Requests with the same idempotency key wait for a refund, so it is retried every second. */
const RETRY_INTERVAL_MS = 1000;

/** Refunds that are not applied, beyond so many, are saved at once: a kill of the process loses few. */
const UNSAVED_REFUNDS_MAX = 64;

/** A refund that is not applied yet. */
export interface PendingRefund {
  readonly refund: Refund;
  /** Called once the refund is applied, at whatever attempt. */
  readonly onDone: () => void;
  /** Called after the first attempt, with its success. */
  readonly onFirstAttempt: (isDone: boolean) => void;
}

/** The parts and limits of a refund queue. */
interface RefundQueueOptions {
  /** Applies refunds. Applying them again changes nothing. */
  apply(refunds: readonly Refund[]): Promise<void>;
  /** Called when a refund waits for a commit. */
  onWaiting(): void;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Receives the error of first attempts, and of refunds that are still pending at the end. */
  onFailure(error: unknown): void;
  /** Saves refunds that outlive the process; without it they are lost at its end. */
  readonly spool?: RefundSpool | undefined;
}

export type RefundQueue = ReturnType<typeof createRefundQueue>;

export function createRefundQueue(options: RefundQueueOptions) {
  const { onWaiting, timeoutMs, onFailure, spool } = options;
  const applyInTime = (refunds: readonly Refund[]) =>
    withDeadline(options.apply(refunds), timeoutMs);
  /** All that are not applied: they wait for a commit, are in one, or have failed. */
  const pending = new Set<PendingRefund>();
  const waiting: PendingRefund[] = [];
  const firstAttempts = new Set<Promise<boolean>>();
  const { save, remove } = createBestEffortSpool(spool, onFailure);
  const retries = createRetries(applyInTime, confirm);

  const saveAll = (refunds: Iterable<PendingRefund>) =>
    Promise.all(Array.from(refunds, ({ refund }) => save(refund)));

  /** @returns Whether the first attempt succeeded, once it was made. */
  function add(refund: Refund, onDone: () => void, start: (added: PendingRefund) => void) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    firstAttempts.add(promise);
    const added = { refund, onDone, onFirstAttempt: resolve };
    pending.add(added);
    if (pending.size > UNSAVED_REFUNDS_MAX) void save(refund);
    start(added);
    return promise.finally(() => firstAttempts.delete(promise));
  }

  /** The refunds of a group are applied. */
  async function confirm(group: readonly PendingRefund[]): Promise<void> {
    const confirmOne = async (applied: PendingRefund) => {
      pending.delete(applied);
      await remove(applied.refund);
      applied.onDone();
      applied.onFirstAttempt(true);
    };
    await Promise.all(group.map(confirmOne));
  }

  /** The first attempt of a group failed: saves its refunds, and retries them later. */
  async function postpone(group: readonly PendingRefund[], error: unknown): Promise<void> {
    if (group.length === 0) return;
    onFailure(createPendingError({ refunds: group.map(({ refund }) => refund), error }));
    await saveAll(group);
    for (const { onFirstAttempt } of group) onFirstAttempt(false);
    retries.add(group);
  }

  return {
    /** Saves a refund in the spool before its first attempt. */
    save,

    /**
     * Applies a refund with the next commit; resolves after the first attempt.
     *
     * @param onDone Called once the refund is applied, at whatever attempt.
     * @returns Whether the first attempt succeeded.
     */
    enqueue: (refund: Refund, onDone: () => void): Promise<boolean> =>
      add(refund, onDone, (added) => {
        waiting.push(added);
        onWaiting();
      }),

    /** Applies a refund at once, else like `enqueue()`. */
    applyNow: (refund: Refund, onDone: () => void): Promise<boolean> =>
      add(refund, onDone, (added) => {
        applyInTime([refund]).then(
          () => confirm([added]),
          (error: unknown) => postpone([added], error),
        );
      }),

    /** Takes a group of the refunds that wait. It is either confirmed or postponed. */
    takeGroup: (): readonly PendingRefund[] => waiting.splice(0, GROUP_MAX_SIZE),

    confirm,
    postpone,

    /** Resolves once every first attempt was made, and each one that failed is in the spool. */
    async waitForFirstAttempts(): Promise<void> {
      do {
        await new Promise(setImmediate);
        await Promise.all(firstAttempts);
      } while (firstAttempts.size > 0);
    },

    /** Saves every refund that is not applied: the process may be killed soon. */
    saveAll: async (): Promise<void> => void (await saveAll(pending)),

    /** Tries every refund that failed once more, and stops retrying. */
    async close(): Promise<void> {
      for (const failure of await retries.stop()) onFailure(createPendingError(failure));
    },
  };
}

/**
 * Creates the retries of refunds.
 *
 * @param onApplied Called with those that succeed.
 */
function createRetries(
  apply: (refunds: readonly Refund[]) => Promise<void>,
  onApplied: (group: readonly PendingRefund[]) => Promise<void>,
) {
  let failed: readonly PendingRefund[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastAttempt: Promise<readonly GroupFailure[]> = Promise.resolve([]);
  let isStopped = false;

  async function attempt(): Promise<readonly GroupFailure[]> {
    const attempted = failed;
    failed = [];
    const refunds = attempted.map(({ refund }) => refund);
    const { applied, failures } = await applyInGroups(refunds, apply);
    failed = [...failed, ...attempted.filter(({ refund }) => !applied.has(refund))];
    await onApplied(attempted.filter(({ refund }) => applied.has(refund)));
    return failures;
  }

  function attemptAfterLast(): Promise<readonly GroupFailure[]> {
    lastAttempt = lastAttempt.then(attempt);
    return lastAttempt;
  }

  function schedule(): void {
    if (isStopped) return;
    timer ??= setTimeout(async () => {
      await attemptAfterLast();
      timer = undefined;
      if (failed.length > 0) schedule();
    }, RETRY_INTERVAL_MS).unref();
  }

  return {
    add(group: readonly PendingRefund[]): void {
      failed = [...failed, ...group];
      schedule();
    },

    /** Makes the last attempt. @returns The groups that failed in it. */
    stop(): Promise<readonly GroupFailure[]> {
      isStopped = true;
      clearTimeout(timer);
      return attemptAfterLast();
    },
  };
}

/** Wraps a spool, so that its failures are reported and stop nothing. */
function createBestEffortSpool(
  spool: RefundSpool | undefined,
  onFailure: (error: unknown) => void,
) {
  return {
    async save(refund: Refund): Promise<void> {
      try {
        await spool?.add(refund);
      } catch (cause) {
        const message = `${describeRefund(refund)} cannot be saved in ${spool?.file}`;
        onFailure(new Error(message, { cause }));
      }
    },
    async remove(refund: Refund): Promise<void> {
      try {
        await spool?.markApplied(refund);
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

function createPendingError({ refunds, error }: GroupFailure): Error {
  const [first] = refunds;
  const subject =
    first !== undefined && refunds.length === 1
      ? `${describeRefund(first)} is`
      : `${refunds.length} refunds are`;
  return new Error(`${subject} not done yet: ${String(error)}`, { cause: error });
}

function describeRefund(refund: Refund): string {
  if (refund.kind === "batch") return `The cancellation of the debits ${refund.uid}`;
  const { cost, account } = refund.charge;
  return `A refund of ${cost} to account ${account}`;
}
