/**
 * The SQL that refunds a group of debits. Each statement finds, in the state before the group, which
 * of the debits exist and are not refunded, so a group that is committed again changes nothing. The
 * journal comes last: its rows mark the debits as refunded.
 */
import type { Statement } from "../database/database.ts";

/** A committed debit, as a refund names it. */
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
  /** The idempotency key that it paid for. */
  readonly idempotencyKey?: string | undefined;
}

/** A refund of a debit. Applying it again changes nothing. */
export interface DebitRefund {
  /** Made before the refund. */
  readonly uid: string;
  readonly debit: Debit;
  /** Why, for the statement. */
  readonly reason: string;
}

/** Whether a debit has been refunded. */
const IS_DEBIT_REFUNDED = `
    SELECT 1
    FROM journal AS refunded
    WHERE refunded.debit = debited.uid
      AND refunded.account = debited.account
      AND refunded.debit_index = json_extract(refund.value, '$[4]')`;

/** Whether any debit of a batch from an account has been refunded. */
const IS_BATCH_REFUNDED = `
    SELECT 1
    FROM journal AS refunded
    WHERE refunded.debit = debited.uid AND refunded.account = debited.account`;

/** Selects the refunds ?1 whose debit exists and is not refunded. */
const selectApplicableSql = (isRefunded: string) => `
  SELECT
    refund.key AS position,
    json_extract(refund.value, '$[0]') AS uid,
    json_extract(refund.value, '$[1]') AS reason,
    debited.uid AS debit,
    debited.account AS account,
    json_extract(refund.value, '$[4]') AS debit_index,
    json_extract(refund.value, '$[5]') AS cost,
    json_extract(refund.value, '$[6]') AS key,
    json_extract(refund.value, '$[7]') AS endpoint,
    json_extract(refund.value, '$[8]') AS hour,
    json_extract(refund.value, '$[9]') AS idempotency_key
  FROM json_each(?1) AS refund
  JOIN journal AS debited
    ON debited.uid = json_extract(refund.value, '$[2]')
    AND debited.account = json_extract(refund.value, '$[3]')
    AND debited.kind = 'debit'
  WHERE NOT EXISTS (${isRefunded}
  )`;

const updateBalancesSql = (applicable: string) => `
  UPDATE accounts
  SET refunded = refunded + given.amount, balance = balance + given.amount
  FROM (
    SELECT account, sum(cost) AS amount
    FROM (${applicable})
    GROUP BY account
  ) AS given
  WHERE accounts.id = given.account`;

const updateUsageSql = (applicable: string) => `
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
    AND usage.endpoint = given.endpoint`;

// In this order of the columns, SQLite finds each row by the primary key; in the order of the key, it
// reads all payments of the account.
const deletePaymentsSql = (applicable: string) => `
  DELETE FROM payments
  WHERE (idempotency_key, account) IN (
    SELECT paid.idempotency_key, paid.account
    FROM (${applicable}) AS applicable
    JOIN payments AS paid
      ON paid.account = applicable.account
      AND paid.idempotency_key = applicable.idempotency_key
      AND paid.debit = applicable.debit
  )`;

const insertRefundsSql = (applicable: string) => `
  INSERT INTO journal (uid, account, kind, amount, at, debit, debit_index, reason)
  SELECT uid, account, 'refund', cost, ?2, debit, debit_index, reason
  FROM (${applicable})
  ORDER BY position`;

const createTexts = (isRefunded: string) => {
  const applicable = selectApplicableSql(isRefunded);
  return {
    updateBalances: updateBalancesSql(applicable),
    updateUsage: updateUsageSql(applicable),
    deletePayments: deletePaymentsSql(applicable),
    insertRefunds: insertRefundsSql(applicable),
  };
};

const TEXTS_OF_DEBITS = createTexts(IS_DEBIT_REFUNDED);
const TEXTS_OF_BATCHES = createTexts(IS_BATCH_REFUNDED);

/** The statements of a group of refunds; one of them only if a debit paid for an idempotency key. */
interface RefundStatements {
  readonly refundBalances: Statement;
  readonly refundUsage: Statement;
  readonly deleteRefundedPayments?: Statement;
  readonly insertRefunds: Statement;
}

/**
 * Creates the statements of a group of refunds, to run in one transaction.
 *
 * @param options.areBatches Whether they refund all debits of their batches, unless any is refunded.
 */
export function createRefundStatements(
  refunds: readonly DebitRefund[],
  now: number,
  { areBatches = false } = {},
): RefundStatements {
  const texts = areBatches ? TEXTS_OF_BATCHES : TEXTS_OF_DEBITS;
  const json = serializeRefunds(refunds);
  const hasPayments = refunds.some(({ debit }) => debit.idempotencyKey !== undefined);
  return {
    refundBalances: { sql: texts.updateBalances, args: [json] },
    refundUsage: { sql: texts.updateUsage, args: [json] },
    ...(hasPayments ? { deleteRefundedPayments: { sql: texts.deletePayments, args: [json] } } : {}),
    insertRefunds: { sql: texts.insertRefunds, args: [json, now] },
  };
}

/** Serializes refunds as arrays; of several refunds of one debit only the last one. */
function serializeRefunds(refunds: readonly DebitRefund[]): string {
  const refundOfDebit = new Map(
    refunds.map(({ uid, reason, debit }) => [
      describeDebit(debit),
      [
        uid,
        reason,
        debit.uid,
        debit.account,
        debit.index,
        debit.cost,
        debit.key,
        debit.endpoint,
        debit.hour,
        debit.idempotencyKey ?? null,
      ],
    ]),
  );
  return JSON.stringify(Array.from(refundOfDebit.values()));
}

const describeDebit = ({ uid, account, index }: Debit) => `${uid} ${account} ${index}`;
