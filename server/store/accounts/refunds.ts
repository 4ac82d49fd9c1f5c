/**
 * Refunds of groups of debits, as one transaction each. Every statement finds for itself which
 * debits exist and are not refunded, so a group that is committed again changes nothing. The
 * entries of the journal, which mark debits as refunded, are written last.
 */
import { writeNamed, type Database } from "../database/database.ts";
import { createJsonRows } from "./json-rows.ts";

export interface Debit {
  /** Identifies the batch that committed it. */
  readonly uid: string;
  readonly account: number;
  /** Its index among the debits of its batch and account. */
  readonly index: number;
  readonly cost: number;
  readonly key: number;
  readonly endpoint: string;
  /** Counted from 1970 UTC. */
  readonly hour: number;
  readonly idempotencyKey?: string | undefined;
}

/** A refund of a debit, with an id made before it. Applying it again changes nothing. */
interface DebitRefund {
  readonly uid: string;
  readonly debit: Debit;
  /** Why, for the statement. */
  readonly reason: string;
}

const REFUND_ROWS = createJsonRows(
  "uid reason debit account debit_index cost key endpoint hour idempotency_key".split(" "),
  ({ uid, reason, debit }: DebitRefund) => {
    const { uid: batch, account, index, cost, key, endpoint, hour, idempotencyKey } = debit;
    return [uid, reason, batch, account, index, cost, key, endpoint, hour, idempotencyKey];
  },
);

/**
 * Creates the SQL that applies the refunds ?1.
 *
 * @param isSameRefund Whether the entry `refunded` of the journal stands in the way of `refund`, as
 * SQL.
 */
function createTexts(isSameRefund: string) {
  /** Selects the refunds whose debit exists and is not refunded. */
  const applicable = `
    SELECT refund.*
    FROM (${REFUND_ROWS.selectSql}) AS refund
    JOIN journal AS debited
      ON debited.uid = refund.debit
      AND debited.account = refund.account
      AND debited.kind = 'debit'
    WHERE NOT EXISTS (
      SELECT 1
      FROM journal AS refunded
      WHERE refunded.debit = debited.uid
        AND refunded.account = debited.account
        AND ${isSameRefund}
    )`;
  return {
    updateBalances: `
  UPDATE accounts
  SET refunded = refunded + given.amount, balance = balance + given.amount
  FROM (
    SELECT account, sum(cost) AS amount
    FROM (${applicable})
    GROUP BY account
  ) AS given
  WHERE accounts.id = given.account`,
    updateUsage: `
  UPDATE usage
  SET refunded = usage.refunded + given.amount, refunds = usage.refunds + given.requests
  FROM (
    SELECT account, hour, key, endpoint, sum(cost) AS amount, count(*) AS requests
    FROM (${applicable})
    GROUP BY account, hour, key, endpoint
  ) AS given
  WHERE usage.account = given.account
    AND usage.hour = given.hour
    AND usage.key = given.key
    AND usage.endpoint = given.endpoint`,
    // In this order of the columns, SQLite finds each row by the primary key; in the order of the
    // key, it reads all payments of the account.
    deletePayments: `
  DELETE FROM payments
  WHERE (idempotency_key, account) IN (
    SELECT paid.idempotency_key, paid.account
    FROM (${applicable}) AS applicable
    JOIN payments AS paid
      ON paid.account = applicable.account
      AND paid.idempotency_key = applicable.idempotency_key
      AND paid.debit = applicable.debit
  )`,
    insertRefunds: `
  INSERT INTO journal (uid, account, kind, amount, at, debit, debit_index, reason)
  SELECT uid, account, 'refund', cost, ?2, debit, debit_index, reason
  FROM (${applicable})
  ORDER BY position`,
  };
}

const TEXTS_OF_DEBITS = createTexts("refunded.debit_index = refund.debit_index");
const TEXTS_OF_BATCHES = createTexts("true");

/**
 * Creates the statements of a transaction. Of several refunds of one debit the last one counts.
 * With `areBatches`, debits are not refunded if anything of their batch is refunded already.
 */
export function createRefundStatements(
  refunds: readonly DebitRefund[],
  now: number,
  { areBatches = false } = {},
) {
  const texts = areBatches ? TEXTS_OF_BATCHES : TEXTS_OF_DEBITS;
  const refundOfDebit = new Map(
    refunds.map((refund) => {
      const { uid, account, index } = refund.debit;
      return [`${uid} ${account} ${index}`, refund];
    }),
  );
  const json = REFUND_ROWS.serialize([...refundOfDebit.values()]);
  const hasPayments = refunds.some(({ debit }) => debit.idempotencyKey !== undefined);
  return {
    refundBalances: { sql: texts.updateBalances, args: [json] },
    refundUsage: { sql: texts.updateUsage, args: [json] },
    ...(hasPayments ? { deleteRefundedPayments: { sql: texts.deletePayments, args: [json] } } : {}),
    insertRefunds: { sql: texts.insertRefunds, args: [json, now] },
  };
}

/**
 * Refunds debits as one transaction, each once. Afterwards their idempotency keys can pay again. A
 * request that another process answered meanwhile, because the key counted as paid, stays free.
 */
export async function refundDebits(
  database: Database,
  refunds: readonly DebitRefund[],
  now: number,
  options?: { readonly areBatches: boolean },
): Promise<void> {
  if (refunds.length === 0) return;
  await writeNamed(database, createRefundStatements(refunds, now, options), {
    durability: "configured",
    idempotent: true,
    inline: true,
  });
}
