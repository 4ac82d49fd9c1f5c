/** Cancels batches of debits whose commit got no response. */
import type { Row } from "@libsql/client";
import { PAYMENT_TTL_MS } from "../../../core/charges.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { groupIntoRuns, RUN_ROWS, type AccountCharge } from "./charge-runs.ts";
import { createOutcomeQueries } from "./debit-sql.ts";
import { assignOutcomes } from "./debits.ts";
import { refundDebits, type Debit } from "./refunds.ts";

// The hour of a debit takes no argument: that is REAL, which divides with a fraction.
const SELECT_USAGE = `
  SELECT usage.account, key, endpoint, usage.hour, credits - refunded AS unrefunded
  FROM journal
  JOIN usage ON usage.account = journal.account AND usage.hour = journal.at / ${HOUR_MS}
  WHERE journal.uid = ? AND journal.kind = 'debit'`;

/**
 * Makes sure that a batch whose commit got no response debits nothing: it can't be committed from
 * here on, and its committed charges are refunded.
 */
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
  // A key with another payment did probably not pay in this batch, however many repeats it has had since.
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
  // Nobody has a receipt of the batch, so only an earlier cancellation has refunded any of it: then all.
  await refundDebits(database, refunds, now, { areBatches: true });
}

/**
 * Assigns all credits that a batch debited to its charges. The ledger does not record which ones were
 * charged, and the payments of their idempotency keys may have been deleted or replaced since. So the
 * sums are right, for each account and within what its usage has left, but the assignment is a guess
 * if charges with idempotency keys were in the batch.
 *
 * @param charges Those first that were probably charged.
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
    const { hour } = used;
    const debit = { uid, account, index, cost: assigned, key, endpoint, hour };
    return [{ ...debit, idempotencyKey: idempotencyKey?.value }];
  });
}
