/**
 * Refunds of groups of debits, as one transaction each. A refund has the key of its debit and the
 * number of its request, so a group that is committed again changes nothing.
 */
import type { Database, Statement } from "../database/database.ts";
import { debitAtSql, debitEndpointSql, debitFieldSql } from "./charge-runs.ts";
import { createJsonRows } from "./json-rows.ts";

export interface Debit {
  /** Identifies the batch that committed it. */
  readonly uid: string;
  readonly account: number;
  /** The position of its run of equal charges in the batch. */
  readonly run: number;
  /** Its index in the run. */
  readonly index: number;
  readonly cost: number;
  readonly key: number;
  readonly endpoint: string;
  /** Counted from 1970 UTC. */
  readonly hour: number;
  readonly idempotencyKey?: string | undefined;
}

export interface DebitRefund {
  readonly debit: Debit;
  /** Why, for the statement. */
  readonly reason: string;
}

const REFUND_ROWS = createJsonRows(
  "debit account run debit_index idempotency_key reason".split(" "),
  ({ debit: { uid, account, run, index, idempotencyKey }, reason }: DebitRefund) => [
    uid,
    account,
    run,
    index,
    idempotencyKey,
    reason,
  ],
);

// In this order of the columns, SQLite finds each row by the primary key; in the order of the key,
// it reads all payments of the account.
const DELETE_PAYMENTS = `
  DELETE FROM payments
  WHERE (idempotency_key, account) IN (
    SELECT paid.idempotency_key, paid.account
    FROM (${REFUND_ROWS.selectSql}) AS refunds
    JOIN payments AS paid
      ON paid.account = refunds.account
      AND paid.idempotency_key = refunds.idempotency_key
      AND paid.debit = refunds.debit
  )`;

const INSERT_REFUNDS = `
  INSERT INTO journal (
    uid, account, run, refund, kind, amount, at, requests, key, endpoint, reason
  )
  SELECT
    uid, account, run, debit_index + 1, 'refund',
    ${debitFieldSql("amount", "debited")} / ${debitFieldSql("requests", "debited")},
    ?2, 1, ${debitFieldSql("key", "debited")}, ${debitEndpointSql("debited")}, reason
  FROM (
    SELECT refunds.*, uid, endpoints, ${debitAtSql("refunds.run")} AS debited
    FROM (${REFUND_ROWS.selectSql}) AS refunds
    JOIN debit_batches ON uid = refunds.debit
  )
  WHERE account = ${debitFieldSql("account", "debited")}
    AND debit_index < ${debitFieldSql("requests", "debited")}
  ON CONFLICT DO NOTHING`;

/** Creates the statements of refunds; that of a debit that does not exist has no effect. */
export function createRefundStatements(
  refunds: readonly DebitRefund[],
  now: number,
): Partial<Record<"deletePayments" | "insertRefunds", Statement>> {
  if (refunds.length === 0) return {};
  const json = REFUND_ROWS.serialize(refunds);
  const hasKeys = refunds.some(({ debit }) => debit.idempotencyKey !== undefined);
  return {
    ...(hasKeys && { deletePayments: { sql: DELETE_PAYMENTS, args: [json] } }),
    insertRefunds: { sql: INSERT_REFUNDS, args: [json, now] },
  };
}

/**
 * Refunds debits as one transaction, each once. Afterwards their idempotency keys can pay again. A
 * request that another process answered meanwhile, because the key counted as paid, stays free.
 */
export async function refundDebits(
  { write }: Database,
  refunds: readonly DebitRefund[],
  now: number,
): Promise<void> {
  if (refunds.length === 0) return;
  const options = { durability: "configured", idempotent: true, inline: true } as const;
  await write(Object.values(createRefundStatements(refunds, now)), options);
}
