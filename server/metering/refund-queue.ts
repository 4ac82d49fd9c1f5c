/**
 * Queues refunds for the next commit of the ledger, which takes a group of them along. Failed
 * refunds are retried in groups of their own until they succeed or the service stops. Also applies
 * the refunds that other processes saved.
 */
import { DomainError } from "../../core/errors.ts";
import { withDeadline } from "./deadline.ts";
import { describeRefund, listCharges, type Refund, type RefundSpool } from "./refund-spool.ts";

/** The most debits of a transaction, and the most refunds: refunds take 4 ms of the main thread. */
export const GROUP_MAX_SIZE = 256;

/** Requests with the same idempotency key wait for a refund, so it is retried every second. */
const RETRY_INTERVAL_MS = 1000;

/**
 * If more refunds than this are not applied, a new one is saved at once: a kill loses few of them.
 */
const UNSAVED_REFUNDS_MAX = 64;

/** Applying refunds again changes nothing. */
type ApplyRefunds = (refunds: readonly Refund[]) => Promise<void>;

type GroupFailure = Readonly<{ refunds: readonly Refund[]; error: unknown }>;

interface PendingRefund {
  readonly refund: Refund;
  readonly onFirstAttempt: () => void;
}

interface RefundQueueOptions {
  readonly apply: ApplyRefunds;
  readonly timeoutMs: number;
  onWaiting(): void;
  onApplied(refund: Refund): void;
  onPostponed(refund: Refund): void;
  /** Receives the error of first attempts, and of refunds that are still pending at the end. */
  onFailure(error: unknown): void;
  /** Saves refunds that outlive the process; without it they are lost at its end. */
  readonly spool?: RefundSpool | undefined;
}

export function createRefundQueue(options: RefundQueueOptions) {
  const { onWaiting, onApplied, onPostponed, timeoutMs, onFailure, spool } = options;
  const apply: ApplyRefunds = (refunds) => withDeadline(options.apply(refunds), timeoutMs);
  /** All refunds that are not applied: waiting for a commit, in a commit, or failed. */
  const pending = new Set<PendingRefund>();
  const waiting: PendingRefund[] = [];
  const firstAttempts = new Set<Promise<void>>();
  const retries = createRetries(apply, confirm);

  const save = async (refund: Refund): Promise<void> => spool?.add(refund).catch(onFailure);

  /** Resolves after the first attempt. */
  function add(refund: Refund, start: (added: PendingRefund) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    firstAttempts.add(promise);
    const added = { refund, onFirstAttempt: resolve };
    pending.add(added);
    if (pending.size > UNSAVED_REFUNDS_MAX) void save(refund);
    start(added);
    return promise.finally(() => firstAttempts.delete(promise));
  }

  async function confirm(group: readonly PendingRefund[]): Promise<void> {
    const confirmOne = async (applied: PendingRefund) => {
      pending.delete(applied);
      await spool?.markApplied(applied.refund).catch(onFailure);
      onApplied(applied.refund);
      applied.onFirstAttempt();
    };
    await Promise.all(group.map(confirmOne));
  }

  /** The first attempt of a group failed: saves its refunds, and retries them later. */
  async function postpone(group: readonly PendingRefund[], error: unknown): Promise<void> {
    if (group.length === 0) return;
    const refunds = group.map(({ refund }) => refund);
    onFailure(createPendingError({ refunds, error }));
    await Promise.all(refunds.map(save));
    refunds.forEach(onPostponed);
    for (const { onFirstAttempt } of group) onFirstAttempt();
    retries.add(group);
  }

  return {
    /** Applies a refund with the next commit; resolves after the first attempt. */
    enqueue: (refund: Refund) =>
      add(refund, (added) => {
        waiting.push(added);
        onWaiting();
      }),

    /**
     * Like `enqueue()`, but applies the refund at once. It is saved first, so that not even a kill
     * of the process loses it.
     */
    async applyNow(refund: Refund, onSaved: () => void): Promise<void> {
      await save(refund);
      onSaved();
      return add(refund, (added) => {
        const onFailed = (error: unknown) => postpone([added], error);
        apply([refund]).then(() => confirm([added]), onFailed);
      });
    },

    /** How many refunds are not applied: waiting, in a commit, or failed. */
    countPending: (): number => pending.size,

    /** Takes a group of waiting refunds. The caller then confirms or postpones the group. */
    takeGroup: () => waiting.splice(0, GROUP_MAX_SIZE),

    confirm,
    postpone,

    /** Resolves once every first attempt was made, and the spool has each failed refund. */
    async waitForFirstAttempts(): Promise<void> {
      do {
        await new Promise(setImmediate);
        await Promise.all(firstAttempts);
      } while (firstAttempts.size > 0);
    },

    /** Saves every refund that is not applied: the process may be killed soon. */
    saveAll: () => Promise.all(Array.from(pending, ({ refund }) => save(refund))),

    /** Applies the refunds that other processes, ended or running, saved. */
    recover: async () => (spool === undefined ? [] : recoverRefunds(spool, options.apply)),

    /** Tries every refund that failed once more, and stops retrying. */
    async close(): Promise<void> {
      for (const failure of await retries.stop()) onFailure(createPendingError(failure));
    },
  };
}

/** Creates the retries of refunds; `onApplied` receives the refunds that succeed. */
function createRetries(
  apply: ApplyRefunds,
  onApplied: (group: readonly PendingRefund[]) => Promise<void>,
) {
  let failed: readonly PendingRefund[] = [];
  let timer: Timer | undefined;
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

  const attemptAfterLast = () => (lastAttempt = lastAttempt.then(attempt));

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
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return attemptAfterLast();
    },
  };
}

/** Applies the refunds in the files of other processes, and removes the files that are done. */
async function recoverRefunds(spool: RefundSpool, apply: ApplyRefunds) {
  const recovered = [];
  for (const spoolFile of await spool.readOthers()) {
    const { file, refunds, otherDatabases, damagedLines } = spoolFile;
    const { applied, failures } = await applyInGroups(refunds, apply);
    const problems = Object.entries(otherDatabases).map(
      ([database, requests]) => `${requests} of another database, ${database}`,
    );
    if (damagedLines.length > 0) problems.push(`damaged lines: ${damagedLines.join(", ")}`);
    const error = failures.at(-1)?.error;
    if (failures.length === 0) await spool.discard(spoolFile);
    else problems.push(error instanceof Error ? error.message : String(error));
    /** The requests that are refunded, or were never debited. */
    const settled = countRequests(applied);
    const ofOthers = Object.values(otherDatabases).reduce((sum, requests) => sum + requests, 0);
    const left = countRequests(refunds) - settled + ofOthers;
    recovered.push({ file, settled, left, problems });
  }
  return recovered;
}

const countRequests = (refunds: Iterable<Refund>) =>
  Array.from(refunds).flatMap(listCharges).length;

/**
 * Applies refunds in groups. The refunds of a group that fails are applied one by one, so that none
 * holds up the others. It stops at the first group for which the database is not available.
 */
async function applyInGroups(refunds: readonly Refund[], apply: ApplyRefunds) {
  const applied = new Set<Refund>();
  const failures: GroupFailure[] = [];
  const groups = Array.from({ length: Math.ceil(refunds.length / GROUP_MAX_SIZE) }, (_, index) =>
    refunds.slice(index * GROUP_MAX_SIZE, (index + 1) * GROUP_MAX_SIZE),
  );
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    try {
      await apply(group);
      for (const refund of group) applied.add(refund);
    } catch (error) {
      if (error instanceof DomainError && error.code === "Service Unavailable") {
        failures.push({ refunds: [group, ...groups].flat(), error });
        break;
      }
      if (group.length > 1) groups.unshift(...group.map((refund) => [refund]));
      else failures.push({ refunds: group, error });
    }
  }
  return { applied, failures };
}

function createPendingError({ refunds, error }: GroupFailure): Error {
  const [refund] = refunds;
  const isOne = refund !== undefined && refunds.length === 1;
  const subject = isOne ? `${describeRefund(refund)} is` : `${refunds.length} refunds are`;
  return new Error(`${subject} not done yet: ${String(error)}`, { cause: error });
}
