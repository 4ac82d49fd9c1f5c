/**
 * Debits charges that wait together as one batch, whose commit decides them. Cancels the debits of
 * a commit that got no response.
 *
 * A run of equal charges is covered as far as the balance reaches after the runs before it, so each
 * charge is decided as if it came alone, in its order: one that costs too much leaves the balance
 * to those behind it. A charge whose idempotency key paid before costs nothing.
 */
import { decideCharge, type Payment } from "../../../core/charges.ts";
import { assertCreditAmount } from "../../../core/ledger.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { CreditStore, DebitOutcome } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import { parseCommitChanges } from "../history/commit-changes.ts";
import { DEBITS, encodeRuns, groupIntoRuns, RUN_ROWS, type AccountCharge } from "./charge-runs.ts";
import type { Debit, DebitRefund } from "./refunds.ts";
import type { CommitRuns, CommittedRuns, StoredPayment } from "./run-batches.ts";

type DebitBatch = Parameters<CreditStore["debit"]>[1] & {
  readonly refunds?: readonly DebitRefund[];
  /** The last change that the caller knows of; without it, no changes are listed. */
  readonly since?: number | undefined;
};

/**
 * Decides charges, in their order, and commits those that the balances cover. No two have one
 * idempotency key of one account, but those that have waited. The outcomes are in their order.
 */
export async function commitDebits(
  commitRuns: CommitRuns,
  charges: readonly AccountCharge[],
  { id: uid, now, since, refunds = [] }: DebitBatch,
) {
  const { runs, runOf } = groupIntoRuns(charges);
  for (const { cost } of runs) assertCreditAmount(cost);
  const committed = await commitRuns({ runs, uid, now, since, refunds });
  return {
    outcomes: assignOutcomes(charges, runOf, uid, Math.floor(now / HOUR_MS), committed),
    changes: parseCommitChanges(committed.changes, since),
  };
}

/** The payment as it was before a batch, which may have counted a repeat before others did. */
function toPaymentBefore({ fingerprint, repeatedBy }: StoredPayment, uid: string): Payment {
  const counted = repeatedBy.indexOf(uid);
  return { fingerprint, repeats: counted === -1 ? repeatedBy.length : counted };
}

/** Assigns each charge the outcome that the statements decided for its run. */
function assignOutcomes(
  charges: readonly AccountCharge[],
  runOf: readonly number[],
  uid: string,
  hour: number,
  { outcomes, payments: storedPayments }: CommittedRuns,
): DebitOutcome<Debit>[] {
  // The balance before the next charge of each run, and how many of them are debited.
  const decidedRuns = outcomes.map((outcome) => outcome && { ...outcome, debitCount: 0 });
  const payments = new Map(
    storedPayments
      .filter((payment) => payment.uid !== uid)
      .map((payment) => [
        `${payment.account} ${payment.idempotencyKey}`,
        toPaymentBefore(payment, uid),
      ]),
  );
  return charges.map((charge, position) => {
    const { account, cost, key, endpoint, idempotencyKey } = charge;
    const run = runOf[position] ?? 0;
    const decided = decidedRuns[run];
    if (!decided) return { kind: "refused", balance: 0 };
    const payment = idempotencyKey && payments.get(`${account} ${idempotencyKey.value}`);
    const isDebited = decided.debitCount < decided.requests;
    // A batch that is sent again finds its debit, whatever the key paid since.
    const kind = isDebited ? "charged" : decideCharge(0, charge, payment);
    if (kind === "misused") return { kind };
    if (kind !== "charged") return { kind, balance: decided.balance };
    const index = decided.debitCount++;
    const balance = (decided.balance -= cost);
    const paid = idempotencyKey?.value;
    const debit = { uid, account, run, index, cost, key, endpoint, hour, idempotencyKey: paid };
    return { kind, debit, balance };
  });
}

// It keeps the batch from being committed from here on.
const INSERT_MARK = `
  INSERT INTO debit_batches (uid, at, endpoints, runs)
  VALUES (?, ?, '[]', '[]')
  ON CONFLICT DO NOTHING`;

// A refund of a whole run stands in the place of that of its first request. Nobody has a receipt of
// the batch, so only an earlier cancellation can have refunded any of it: then all of it.
const INSERT_REFUNDS = `
  INSERT INTO journal (
    uid, account, run, refund, kind, amount, at, requests, key, endpoint, reason
  )
  SELECT uid, account, run, 1, 'refund', amount, ?2, requests, key, endpoint, ?3
  FROM ${DEBITS} AS debits
  WHERE uid = ?1 AND NOT EXISTS (SELECT 1 FROM journal WHERE uid = ?1 AND refund > 0)`;

const DELETE_PAYMENTS = `
  DELETE FROM payments
  WHERE (idempotency_key, account) IN (
    SELECT idempotency_key, account FROM (${RUN_ROWS.selectSql})
  ) AND debit = ?2`;

/**
 * Makes sure that a batch whose commit got no response debits nothing: it can't be committed from
 * here on, and its committed charges are refunded.
 */
export async function cancelDebits(
  { write }: Database,
  charges: readonly AccountCharge[],
  uid: string,
  now: number,
): Promise<void> {
  const { rows } = encodeRuns(groupIntoRuns(charges).runs);
  const statements = [
    { sql: INSERT_MARK, args: [uid, now] },
    { sql: DELETE_PAYMENTS, args: [rows, uid] },
    { sql: INSERT_REFUNDS, args: [uid, now, "Its commit was not answered"] },
  ];
  await write(statements, { durability: "configured", idempotent: true });
}
