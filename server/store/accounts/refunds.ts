/** Refunds debits, and cancels batches of debits whose commit got no response. */
import type { InValue } from "@libsql/client";
import { computePaymentCutoff } from "../../../core/charges.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { AccountCharge } from "../../../core/stores.ts";
import type { Debit } from "../../ports/ledger.ts";
import type { Database, Statement } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { SELECT_OUTCOMES, SELECT_PAYMENTS, serializeRuns } from "./debit-sql.ts";
import { assignOutcomes, groupIntoRuns } from "./debits.ts";

const WRITE_OPTIONS = { durability: "configured", idempotent: true } as const;

/**
 * Refunds a debit, once. Afterwards its idempotency key can pay again. A request that another
 * process answered meanwhile, because the key counted as paid, stays free.
 */
export async function refundDebit(
  database: Database,
  debit: Debit,
  uid: string,
  reason: string,
  now: number,
): Promise<void> {
  await database.write(createRefundStatements(debit, uid, reason, now), WRITE_OPTIONS);
}

// Each statement applies only if the one before it changed a row: their order matters.

const INSERT_REFUND = `
  INSERT INTO journal (uid, account, kind, amount, at, debit, debit_index, reason)
  SELECT ?, account, 'refund', ?, ?, uid, ?, ?
  FROM journal
  WHERE uid = ? AND account = ? AND kind = 'debit'
  ON CONFLICT DO NOTHING`;

const UPDATE_BALANCE = `
  UPDATE accounts
  SET refunded = refunded + ?, balance = balance + ?
  WHERE id = ? AND changes() = 1`;

const UPDATE_USAGE = `
  UPDATE usage
  SET refunded = refunded + ?, refunds = refunds + 1
  WHERE account = ? AND hour = ? AND key = ? AND endpoint = ? AND changes() = 1`;

const DELETE_PAYMENT = `
  DELETE FROM payments
  WHERE account = ? AND idempotency_key = ? AND debit = ? AND changes() = 1`;

function createRefundStatements(
  { uid: batchUid, account, index, cost, key, endpoint, hour, idempotencyKey }: Debit,
  uid: string,
  reason: string,
  now: number,
): Statement[] {
  const usageKey: InValue[] = [account, hour, key, endpoint];
  return [
    { sql: INSERT_REFUND, args: [uid, cost, now, index, reason, batchUid, account] },
    { sql: UPDATE_BALANCE, args: [cost, cost, account] },
    { sql: UPDATE_USAGE, args: [cost, ...usageKey] },
    { sql: DELETE_PAYMENT, args: [account, idempotencyKey ?? null, batchUid] },
  ];
}

/**
 * Makes sure that a batch whose commit got no response debits nothing: it can't be committed from
 * here on, and what it had committed is refunded.
 */
export async function cancelDebits(
  database: Database,
  charges: readonly AccountCharge[],
  uid: string,
  now: number,
): Promise<void> {
  const runs = serializeRuns(groupIntoRuns(charges));
  const { outcomes, payments, commit } = await writeNamed(
    database,
    {
      insertCancellation: {
        sql: "INSERT INTO cancellations (uid, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        args: [uid, now],
      },
      deleteExpired: {
        sql: "DELETE FROM cancellations WHERE at <= ?",
        // Its charges could pay again from then on.
        args: [computePaymentCutoff(now)],
      },
      outcomes: { sql: SELECT_OUTCOMES, args: [runs, uid] },
      payments: { sql: SELECT_PAYMENTS, args: [runs, 0] },
      commit: { sql: "SELECT at FROM journal WHERE uid = ? LIMIT 1", args: [uid] },
    },
    WRITE_OPTIONS,
  );
  const hour = Math.floor(Number(commit[0]?.["at"] ?? 0) / HOUR_MS);
  const decided = assignOutcomes(charges, { uid, hour }, outcomes, payments);
  // In one transaction: after some of them an idempotency key could pay again, and then the indexes
  // of the other debits would shift.
  const refunds = decided.flatMap((outcome) => {
    if (outcome.kind !== "charged") return [];
    const refundUid = `${uid}/${outcome.debit.account}/${outcome.debit.index}`;
    return createRefundStatements(outcome.debit, refundUid, "Its commit was not answered", now);
  });
  if (refunds.length > 0) await database.write(refunds, WRITE_OPTIONS);
}
