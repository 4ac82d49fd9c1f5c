/**
 * The queue that charges requests: it debits a request, and completes the debit once the request is
 * answered, or refunds it. Requests that arrive during a commit wait for the next one, so that one
 * sync to the disk commits many debits and refunds. The ledger decides each debit as if it came
 * alone, in order; a client that leaves before the commit is not charged.
 */
import { createInsufficientCreditsError, DomainError } from "../../core/errors.ts";
import type { DebitOutcome } from "../../core/stores.ts";
import type { CommitPacing } from "../commit-pacer.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";
import type { AccountCharge } from "../store/accounts/charge-runs.ts";
import type { Debit } from "../store/accounts/refunds.ts";
import { CLOSED_CONNECTION_REASON } from "../stored-names.ts";
import { endWith, startSpan } from "../telemetry/tracing.ts";
import {
  createGroupCommit,
  waitForSocketPoll,
  type Batch,
  type PendingDebit,
  type Receipt,
} from "./group-commit.ts";
import { createIdempotencyLocks } from "./idempotency.ts";
import {
  createLedgerCommits,
  type DebitBatchResult,
  type LedgerCommitOptions,
} from "./ledger-commits.ts";
import { createRefundQueue } from "./refund-queue.ts";
import { listCharges, type RefundSpool } from "./refund-spool.ts";

interface DebitQueueOptions extends LedgerCommitOptions {
  readonly ledger: LedgerCommitOptions["ledger"] & Pick<LedgerStore, "isRolledBack">;
  /** Receives the error of a listener, or of a refund, which is retried until the service stops. */
  onFailure?(error: unknown): void;
  /**
   * Receives the status of a request that was charged; `undefined` if it failed and is refunded.
   */
  onEnd?(debit: Debit, status: number | undefined): void;
  readonly timeoutMs?: number;
  /** Saves refunds that outlive the process; without it they are lost at its end. */
  readonly spool?: RefundSpool;
  /** How many commits may be in flight; one by default. */
  readonly pacing?: CommitPacing | undefined;
}

/** The runtime closes a connection that is silent for 30 seconds: answer well before that. */
const COMMIT_TIMEOUT_MS = 10_000;

/** Wraps a listener, so that its exceptions are reported and stop nothing. */
const isolate =
  <Arguments extends unknown[]>(
    listener: ((...args: Arguments) => void) | undefined,
    report: (error: unknown) => void,
  ) =>
  (...args: Arguments): void => {
    try {
      listener?.(...args);
    } catch (error) {
      report(error);
    }
  };

/** Each receipt is either completed or refunded. */
export type DebitQueue = ReturnType<typeof createDebitQueue>;

/** Creates the queue of a ledger. A listener that fails does not stop it. */
export function createDebitQueue(options: DebitQueueOptions) {
  const { ledger, spool, pacing, timeoutMs = COMMIT_TIMEOUT_MS } = options;
  const onFailure = isolate(options.onFailure, () => undefined);
  const onEnd = isolate(options.onEnd, onFailure);
  const commits = createLedgerCommits(options, timeoutMs, onFailure);
  const takeRefunds = () => refundQueue.takeGroup();
  const groupCommit = createGroupCommit({ takeRefunds, drop, commit, pacing });
  const locks = createIdempotencyLocks(groupCommit.add, timeoutMs);
  const refundQueue = createRefundQueue({
    apply: commits.applyRefunds,
    timeoutMs,
    onWaiting: groupCommit.wake,
    onApplied: (refund) => listCharges(refund).forEach(locks.release),
    onPostponed: (refund) => listCharges(refund).forEach(locks.rejectWaiting),
    onFailure,
    spool,
  });

  function drop({ charge, signal, reject }: PendingDebit): void {
    reject(signal?.reason);
    locks.release(charge);
  }

  async function commit(batch: Batch, startNext: () => void): Promise<void> {
    const { debits, refunds, areClientsLeaving } = batch;
    const uid = Bun.randomUUIDv7();
    let result: DebitBatchResult | undefined;
    try {
      result = await commits.commit(uid, batch);
    } catch (error) {
      startNext();
      const postponed = refundQueue.postpone(refunds, error);
      const charges = debits.map(({ charge }) => charge);
      const rejectAll = () => debits.forEach(({ reject }) => reject(error));
      if (ledger.isRolledBack(error)) {
        rejectAll();
        charges.forEach(locks.release);
      } else if (debits.length > 0) {
        await refundQueue.applyNow({ kind: "batch", uid, charges }, rejectAll);
      }
      return postponed;
    }
    // The next commit then refunds the clients that left during this one.
    if (areClientsLeaving) await waitForSocketPoll();
    const unpaid = result === undefined ? [] : settleBatch(debits, result, refund);
    startNext();
    unpaid.forEach(locks.release);
    if (refunds.length > 0) await refundQueue.confirm(refunds);
  }

  async function refundDebit({ charge, debit }: Receipt, reason: string): Promise<void> {
    if (debit === undefined || charge === undefined) return;
    onEnd(debit, undefined);
    await refundQueue.enqueue({ kind: "debit", uid: Bun.randomUUIDv7(), debit, charge, reason });
  }

  /**
   * Refunds a debit, once. It resolves after the first attempt; if that fails, the queue goes on
   * trying.
   */
  const refund = (receipt: Receipt, reason: string): Promise<void> =>
    (receipt.refunded ??= refundDebit(receipt, reason));

  return {
    counts: listCounts(commits, groupCommit, refundQueue),

    /**
     * Charges a request; resolves once its debit is committed. If the signal aborts before, because
     * the client leaves, it rejects with the signal's reason. Else it throws a `DomainError`, and
     * nothing stays debited: `Insufficient Credits`, `Invalid Request` for an idempotency key that
     * paid for another request, or `Service Unavailable` if the debit is not committed in time.
     */
    debit: (charge: AccountCharge, signal?: AbortSignal) =>
      submitDebit(locks.submit, charge, signal),

    /** Keeps the debit: the request was answered with a status. */
    complete({ charge, debit }: Receipt, status: number): void {
      if (debit !== undefined) onEnd(debit, status);
      if (charge !== undefined) locks.complete(charge);
    },

    refund,
    recover: refundQueue.recover,
    check: commits.check,
    readChanges: commits.readChanges,

    /** Saves waiting refunds, finishes running commits, and tries failed refunds once more. */
    close: () =>
      Promise.all([refundQueue.saveAll(), groupCommit.waitUntilIdle()]).then(refundQueue.close),

    /** Resolves once nothing runs any more, after the database is closed. */
    waitUntilIdle: () => groupCommit.waitUntilIdle().then(refundQueue.waitForFirstAttempts),
  };
}

/** Submits a charge, in a span that ends with its commit. */
function submitDebit(
  submit: (debit: PendingDebit) => void,
  charge: AccountCharge,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  const span = startSpan("debit");
  const receipt = new Promise<Receipt>((resolve, reject) =>
    submit({ charge, signal, resolve, reject, span }),
  );
  return span === undefined ? receipt : endWith(span, receipt);
}

/** What the queue did and has, for metrics. */
const listCounts = (
  { counts: commits }: ReturnType<typeof createLedgerCommits>,
  { countWaiting: countWaitingDebits }: ReturnType<typeof createGroupCommit>,
  { countPending: countPendingRefunds }: ReturnType<typeof createRefundQueue>,
) => ({ commits, countWaitingDebits, countPendingRefunds });

/**
 * Settles a committed batch; returns the unpaid charges: paid ones keep their locks until answered.
 */
function settleBatch(
  debits: readonly PendingDebit[],
  { outcomes, changes }: DebitBatchResult,
  refund: (receipt: Receipt, reason: string) => Promise<void>,
): AccountCharge[] {
  const unpaid: AccountCharge[] = [];
  // The pairs of `debits.entries()` would cost 1 µs a read.
  let index = 0;
  for (const pending of debits) {
    const receipt = settleDebit(pending, outcomes[index++], changes.sequence);
    if (receipt?.debit === undefined) unpaid.push(pending.charge);
    // The next batch takes the refund along: a kill of the process leaves few of them behind.
    else if (pending.signal?.aborted === true) void refund(receipt, CLOSED_CONNECTION_REASON);
  }
  return unpaid;
}

/** Resolves or rejects a request as the ledger decided; returns its receipt, if it has one. */
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
    const message = `The Idempotency-Key ${key} paid for another URL, body or saved list within 24 hours`;
    reject(new DomainError("Invalid Request", message));
  } else reject(createInsufficientCreditsError(outcome?.balance ?? 0, charge.cost));
  return undefined;
}
