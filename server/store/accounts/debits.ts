/**
 * Commits debits: charges that wait together are decided and committed as one transaction. Cancels
 * the debits of a commit that got no response.
 *
 * A run of equal charges is covered as far as the balance reaches after the runs before it, so each
 * charge is decided as if it came alone, in its order: one that costs too much leaves the balance
 * to those behind it. A charge whose idempotency key paid before costs nothing.
 */
import type { Row } from "@libsql/client";
import { decideCharge, PAYMENT_TTL_MS, type Payment } from "../../../core/charges.ts";
import { assertCreditAmount } from "../../../core/ledger.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { CreditStore, DebitOutcome } from "../../../core/stores.ts";
import { writeNamed, type Database } from "../database/database.ts";
import { parseChanges } from "../history/change-log.ts";
import { groupIntoRuns, RUN_ROWS, type AccountCharge } from "./charge-runs.ts";
import { createCommitStatements, createOutcomeQueries } from "./debit-sql.ts";
import { createRefundStatements, refundDebits, type Debit } from "./refunds.ts";

type DebitBatch = Parameters<CreditStore["debit"]>[1] & {
  /** Committed with the charges, or not at all. The charges are decided without them. */
  readonly refunds?: Parameters<typeof refundDebits>[1];
  /** The last change that the caller knows of; without it, no changes are listed. */
  readonly since?: number | undefined;
};

/**
 * Decides charges, in their order, and commits those that the balances cover. No two have one
 * idempotency key of one account, but those that have waited. The outcomes are in their order.
 */
export async function commitDebits(
  database: Database,
  charges: readonly AccountCharge[],
  { id: uid, now, since, refunds = [] }: DebitBatch,
) {
  for (const { cost } of charges) assertCreditAmount(cost);
  const hour = Math.floor(now / HOUR_MS);
  const { outcomes, changes, payments } = await writeNamed(
    database,
    {
      ...createCommitStatements(charges, uid, now, since),
      // Last: no charge is decided on credits that it gives back.
      ...(refunds.length === 0 ? undefined : createRefundStatements(refunds, now)),
    },
    { durability: "configured", idempotent: true, inline: true },
  );
  return {
    outcomes: assignOutcomes(charges, { uid, hour }, outcomes, payments ?? []),
    changes: parseChanges(changes[0], since),
  };
}

/** A row of `SELECT_PAYMENTS` as it was before a batch, which may have counted a repeat. */
function toPayment(row: Row, uid: string): Payment {
  const repeats = Number(row["repeats"]) - (row["repeated_by"] === uid ? 1 : 0);
  return { fingerprint: String(row["request_hash"]), repeats };
}

/** Assigns charges the outcomes that the statements decided, from the rows that they selected. */
function assignOutcomes(
  charges: readonly AccountCharge[],
  { uid, hour }: { readonly uid: string; readonly hour: number },
  outcomes: readonly Row[],
  paymentRows: readonly Row[],
): DebitOutcome<Debit>[] {
  const accounts = new Map(
    outcomes.map(({ account, balance, amount }) => [
      Number(account),
      // The balance after the whole batch, and the debited credits without a charge yet.
      { balance: Number(balance), left: Number(amount), debitCount: 0 },
    ]),
  );
  const payments = new Map(
    paymentRows
      .filter(({ debit }) => debit !== uid)
      .map((row) => [`${row["account"]} ${row["idempotency_key"]}`, toPayment(row, uid)]),
  );
  return charges.map((charge) => {
    const { account, cost, key, endpoint, idempotencyKey } = charge;
    const coverage = accounts.get(account);
    if (coverage === undefined) return { kind: "refused", balance: 0 };
    const payment = idempotencyKey && payments.get(`${account} ${idempotencyKey.value}`);
    const kind = decideCharge(coverage.left, charge, payment);
    if (kind === "misused") return { kind };
    if (kind !== "charged") return { kind, balance: coverage.balance + coverage.left };
    coverage.left -= cost;
    const index = coverage.debitCount++;
    const paid = idempotencyKey?.value;
    const debit = { uid, account, index, cost, key, endpoint, hour, idempotencyKey: paid };
    return { kind, debit, balance: coverage.balance + coverage.left };
  });
}

// The hour of a debit takes no argument: that is REAL, which divides with a fraction.
const SELECT_USAGE = `
  SELECT usage.account, key, endpoint, usage.hour, credits - refunded AS unrefunded
  FROM journal
  JOIN usage ON usage.account = journal.account AND usage.hour = journal.at / ${HOUR_MS}
  WHERE journal.uid = ? AND journal.kind = 'debit'`;

/** Cancels a batch whose commit got no response: prevents its commit, or refunds its charges. */
export async function cancelDebits(
  database: Database,
  charges: readonly AccountCharge[],
  uid: string,
  now: number,
): Promise<void> {
  const runs = RUN_ROWS.serialize(groupIntoRuns(charges));
  const insert = "INSERT INTO cancellations (uid, at) VALUES (?, ?) ON CONFLICT DO NOTHING";
  // The charges of an older cancellation could pay again by now.
  const deleteExpired = "DELETE FROM cancellations WHERE at <= ?";
  const { outcomes, payments, usage } = await writeNamed(
    database,
    {
      insertCancellation: { sql: insert, args: [uid, now] },
      deleteExpired: { sql: deleteExpired, args: [now - PAYMENT_TTL_MS] },
      ...createOutcomeQueries(runs, uid, 0),
      usage: { sql: SELECT_USAGE, args: [uid] },
    },
    { durability: "configured", idempotent: true },
  );
  // A key with another payment did probably not pay in this batch, however many repeats it has had
  // since.
  const waited = charges.map((charge) => ({ ...charge, hasWaited: true }));
  const hour = Number(usage[0]?.["hour"] ?? 0);
  const decided = assignOutcomes(waited, { uid, hour }, outcomes, payments);
  const { charged = [], other = [] } = Object.groupBy(charges, (_, index) =>
    decided[index]?.kind === "charged" ? "charged" : "other",
  );
  const refunds = assignDebits([...charged, ...other], uid, outcomes, usage).map((debit) => ({
    uid: `${uid}/${debit.account}/${debit.index}`,
    debit,
    reason: "Its commit was not answered",
  }));
  // Nobody has a receipt of the batch, so only an earlier cancellation has refunded any of it: then
  // all.
  await refundDebits(database, refunds, now, { areBatches: true });
}

/**
 * Assigns all credits that a batch debited to its charges. The ledger does not record which ones
 * were charged, and the payments of their idempotency keys may have been deleted or replaced since.
 * So the sums are right, for each account and within what its usage has left, but the assignment is
 * a guess if charges with idempotency keys were in the batch. The charges that were probably made
 * come first.
 */
function assignDebits(
  charges: readonly AccountCharge[],
  uid: string,
  outcomes: readonly Row[],
  usage: readonly Row[],
): Debit[] {
  const accounts = new Map(
    outcomes.map(({ account, amount }) => [
      Number(account),
      { unassigned: Number(amount), debitCount: 0 },
    ]),
  );
  const usages = new Map(
    usage.map(({ account, key, endpoint, hour, unrefunded }) => [
      `${account} ${key} ${endpoint}`,
      { hour: Number(hour), unrefunded: Number(unrefunded) },
    ]),
  );
  return charges.flatMap(({ account, key, endpoint, cost, idempotencyKey }) => {
    const debited = accounts.get(account);
    const used = usages.get(`${account} ${key} ${endpoint}`);
    if (debited === undefined || used === undefined) return [];
    const assigned = Math.min(cost, debited.unassigned, used.unrefunded);
    if (assigned <= 0) return [];
    debited.unassigned -= assigned;
    used.unrefunded -= assigned;
    const index = debited.debitCount++;
    const debit = { uid, account, index, cost: assigned, key, endpoint, hour: used.hour };
    return [{ ...debit, idempotencyKey: idempotencyKey?.value }];
  });
}
