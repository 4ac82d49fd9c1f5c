/**
 * Commits debits: charges that wait together are decided and committed as one transaction. Cancels
 * the debits of a commit that got no response.
 *
 * A run of equal charges is covered as far as the balance reaches after the runs before it, so each
 * charge is decided as if it came alone, in its order: one that costs too much leaves the balance
 * to those behind it. A charge whose idempotency key paid before costs nothing.
 */
import type { Row } from "@libsql/client";
import { decideCharge, type Payment } from "../../../core/charges.ts";
import { DomainError } from "../../../core/errors.ts";
import { assertCreditAmount } from "../../../core/ledger.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { CreditStore, DebitOutcome } from "../../../core/stores.ts";
import { readSystemErrorCode } from "../../system-errors.ts";
import { writeNamed, type Database, type WriteOptions } from "../database/database.ts";
import { parseChanges } from "../history/change-log.ts";
import { groupIntoRuns, RUN_ROWS, type AccountCharge } from "./charge-runs.ts";
import { createCoveredStatement, createGeneralStatements, type RunBatch } from "./debit-sql.ts";
import { createRefundStatements, type Debit, type DebitRefund } from "./refunds.ts";

type DebitBatch = Parameters<CreditStore["debit"]>[1] & {
  /** Committed with the charges, or not at all. The charges are decided without them. */
  readonly refunds?: readonly DebitRefund[];
  /** The last change that the caller knows of; without it, no changes are listed. */
  readonly since?: number | undefined;
};

const WRITE_OPTIONS: WriteOptions = { durability: "configured", idempotent: true, inline: true };

/** What the statements of a batch selected. */
interface CommittedRows {
  /** A row for each run of an account that exists. */
  readonly outcomes: readonly Row[];
  readonly payments: readonly Row[];
  readonly changes: Row | undefined;
}

/**
 * Decides charges, in their order, and commits those that the balances cover. No two have one
 * idempotency key of one account, but those that have waited. The outcomes are in their order.
 */
export async function commitDebits(
  database: Database,
  charges: readonly AccountCharge[],
  { id: uid, now, since, refunds }: DebitBatch,
) {
  const { runs, runOf } = groupIntoRuns(charges);
  for (const { cost } of runs) assertCreditAmount(cost);
  const batch = { runs, uid, now, since };
  const hasKeys = runs.some(({ idempotencyKey }) => idempotencyKey !== undefined);
  const commit = hasKeys ? commitGeneral : commitCovered;
  const committed = await commit(database, batch, createRefundStatements(refunds ?? [], now));
  return {
    outcomes: assignOutcomes(charges, runOf, uid, Math.floor(now / HOUR_MS), committed),
    changes: parseChanges(committed.changes, since),
  };
}

/** Commits runs as they are if the balances cover them all, and else as the balances allow. */
async function commitCovered(
  database: Database,
  batch: RunBatch,
  refunds: ReturnType<typeof createRefundStatements>,
): Promise<CommittedRows> {
  try {
    const statements = [createCoveredStatement(batch), ...Object.values(refunds)];
    const [inserted] = await database.write(statements, WRITE_OPTIONS);
    const outcomes = inserted?.rows ?? [];
    if (outcomes.length > 0) return { outcomes, payments: [], changes: outcomes[0] };
  } catch (error) {
    const code = error instanceof Error ? readSystemErrorCode(error) : "";
    if (!code.startsWith("SQLITE_CONSTRAINT")) throw error;
  }
  try {
    return await commitGeneral(database, batch, refunds);
  } catch (error) {
    // The first statement may be stored: perhaps it failed since its response was lost before.
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.code, error.message, { cause: error.cause });
  }
}

async function commitGeneral(
  database: Database,
  batch: RunBatch,
  refunds: ReturnType<typeof createRefundStatements>,
): Promise<CommittedRows> {
  // Last, the refunds: no charge is decided on credits that they give back.
  const statements = { ...createGeneralStatements(batch), ...refunds };
  const {
    outcomes,
    payments = [],
    changes,
  } = await writeNamed(database, statements, WRITE_OPTIONS);
  return { outcomes, payments, changes: changes[0] };
}

/** A row of `SELECT_PAYMENTS` as it was before a batch, which may have counted a repeat. */
function toPayment(row: Row, uid: string): Payment {
  const repeats = Number(row["repeats"]) - (row["repeated_by"] === uid ? 1 : 0);
  return { fingerprint: String(row["request_hash"]), repeats };
}

/** Assigns each charge the outcome that the statements decided for its run. */
function assignOutcomes(
  charges: readonly AccountCharge[],
  runOf: readonly number[],
  uid: string,
  hour: number,
  { outcomes, payments: paymentRows }: CommittedRows,
): DebitOutcome<Debit>[] {
  const decidedRuns: ({ balance: number; requests: number; debitCount: number } | undefined)[] = [];
  for (const { run, requests, balance } of outcomes) {
    // The balance before the next charge of the run, and how many of them are debited.
    const decided = { balance: Number(balance), requests: Number(requests), debitCount: 0 };
    decidedRuns[Number(run)] = decided;
  }
  const payments = new Map(
    paymentRows
      .filter(({ debit }) => debit !== uid)
      .map((row) => [`${row["account"]} ${row["idempotency_key"]}`, toPayment(row, uid)]),
  );
  return charges.map((charge, position) => {
    const { account, cost, key, endpoint, idempotencyKey } = charge;
    const run = runOf[position] ?? 0;
    const decided = decidedRuns[run];
    if (decided === undefined) return { kind: "refused", balance: 0 };
    const payment = idempotencyKey && payments.get(`${account} ${idempotencyKey.value}`);
    const isDebited = decided.debitCount < decided.requests;
    const kind = decideCharge(isDebited ? cost : 0, charge, payment);
    if (kind === "misused") return { kind };
    if (kind !== "charged") return { kind, balance: decided.balance };
    const index = decided.debitCount++;
    const balance = (decided.balance -= cost);
    const paid = idempotencyKey?.value;
    const debit = { uid, account, run, index, cost, key, endpoint, hour, idempotencyKey: paid };
    return { kind, debit, balance };
  });
}

// It keeps the batch from being committed from here on, as the first run has this entry.
const INSERT_MARK = `
  INSERT INTO journal (uid, account, kind, amount, at, requests)
  VALUES (?, ?, 'debit', 0, ?, 0)
  ON CONFLICT DO NOTHING`;

// A refund of a whole run stands in the place of that of its first request. Nobody has a receipt of
// the batch, so only an earlier cancellation can have refunded any of it: then all of it.
const INSERT_REFUNDS = `
  INSERT INTO journal (
    uid, account, run, refund, kind, amount, at, requests, key, endpoint, reason
  )
  SELECT uid, account, run, 1, 'refund', amount, ?2, requests, key, endpoint, ?3
  FROM journal
  WHERE uid = ?1 AND amount > 0
    AND NOT EXISTS (SELECT 1 FROM journal WHERE uid = ?1 AND refund > 0)`;

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
  const json = RUN_ROWS.serialize(groupIntoRuns(charges).runs);
  const statements = [
    { sql: INSERT_MARK, args: [uid, charges[0]?.account ?? 0, now] },
    { sql: DELETE_PAYMENTS, args: [json, uid] },
    { sql: INSERT_REFUNDS, args: [uid, now, "Its commit was not answered"] },
  ];
  await write(statements, { durability: "configured", idempotent: true });
}
