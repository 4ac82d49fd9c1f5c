/**
 * The SQL that commits a batch of charges. It works on runs: equal charges of an account in a row,
 * with their number. All runs become one row, whose triggers move the balances and the usage.
 *
 * Most batches have no idempotency keys, and the balances cover them: one statement, which fails
 * and changes nothing if a balance would fall below zero. All others take the general statements,
 * which decide how many charges of each run the balance covers. Several processes debit one
 * account, so the SQL decides: it restates core's `decideCharges()`.
 * `tests/store/accounts/charge-decisions.test.ts` compares both.
 */
import { PAYMENT_TTL_MS } from "../../../core/charges.ts";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import type { Statement } from "../database/database.ts";
import { checkedUidSql } from "../database/tables-version.ts";
import { commitColumnsSql, selectCommitChanges } from "../history/commit-changes.ts";
import {
  debitAtSql,
  debitFieldSql,
  encodeDebits,
  encodeRuns,
  RUN_ROWS,
  type ChargeRun,
} from "./charge-runs.ts";
import type { DebitRefund } from "./refunds.ts";

/** A batch of charges, as runs. */
export interface RunBatch {
  readonly runs: readonly ChargeRun[];
  /** Identifies the batch. */
  readonly uid: string;
  readonly now: number;
  /** The last change that the caller knows of. */
  readonly since?: number | undefined;
  /** Committed with the charges, or not at all. The charges are decided without them. */
  readonly refunds: readonly DebitRefund[];
}

/** The texts of {@link insertCoveredRunsSql} by the number of batches: creating one takes 20 µs. */
const coveredRunTexts: string[] = [];

/**
 * The statement's first argument is the last change that the batch knows of; of several batches,
 * those by their `uid`. Then each batch has four.
 */
function insertCoveredRunsSql(batchCount: number): string {
  const since = batchCount === 1 ? "?1" : "(?1 ->> debit_batches.uid)";
  const values = Array.from({ length: batchCount }, (_, index) => {
    const [uid = "", ...others] = [2, 3, 4, 5].map((place) => `?${4 * index + place}`);
    return `(${checkedUidSql(uid)}, ${others.join(", ")})`;
  });
  // RETURNING reads the balances before the triggers of the row move them, and after those of the
  // rows before it.
  return `
    INSERT INTO debit_batches (uid, at, endpoints, runs)
    VALUES ${values.join(", ")}
    RETURNING
      uid,
      (
        SELECT json_group_array(balance)
        FROM json_each(debit_batches.runs)
        CROSS JOIN accounts ON accounts.id = ${debitFieldSql("account")}
      ) AS balances,
      ${commitColumnsSql(since)}`;
}

/**
 * The statement that commits batches without idempotency keys, if the balances cover them all. It
 * checks the version of the tables. A row more takes the server 40 µs, a statement more 220.
 */
export function createCoveredStatement(batches: readonly RunBatch[]): Statement {
  const [first] = batches;
  const since =
    batches.length === 1
      ? (first?.since ?? null)
      : JSON.stringify(Object.fromEntries(batches.map((batch) => [batch.uid, batch.since])));
  const args: Statement["args"] = [since];
  for (const { runs, uid, now } of batches) {
    const { endpoints, debits } = encodeDebits(runs);
    args.push(uid, now, endpoints, debits);
  }
  const sql = (coveredRunTexts[batches.length] ??= insertCoveredRunsSql(batches.length));
  return { sql, args };
}

/** Whether a batch counted a repeat of a payment, as SQL. */
const isRepeatedBySql = (uid: string): string => `EXISTS (
      SELECT 1 FROM json_each(payments.repeated_by) AS counted WHERE counted.value = ${uid}
    )`;

/**
 * Counts the free repeats, before the row of the batch is inserted: so a batch that is committed
 * again counts none, whatever other batches did with the payment meanwhile.
 */
const COUNT_REPEATS = `
  WITH runs AS (${RUN_ROWS.selectSql})
  UPDATE payments
  SET repeated_by = json_insert(repeated_by, '$[#]', ?3)
  FROM runs
  WHERE payments.account = runs.account
    AND payments.idempotency_key = runs.idempotency_key
    AND payments.request_hash = runs.request_hash
    AND payments.at > ?2
    AND json_array_length(repeated_by) < ${FREE_REPEATS_MAX}
    AND NOT runs.has_waited
    AND NOT EXISTS (SELECT 1 FROM debit_batches WHERE uid = ?3)`;

/** Whether a run has to be paid for: its key has not paid, or has no free repeat left. */
const IS_UNPAID_RUN = `NOT EXISTS (
      SELECT 1
      FROM payments
      WHERE payments.account = runs.account
        AND payments.idempotency_key = runs.idempotency_key
        AND payments.at > ?2
        AND (
          ${isRepeatedBySql("?3")}
          OR runs.has_waited
          OR payments.request_hash <> runs.request_hash
        )
    )`;

/**
 * Inserts the runs that are covered at least in part. A run is decided with the credits that the
 * runs of its account before it leave: one that costs too much takes none of them. A batch without
 * covered runs has a row, too, so that it is committed only once.
 */
const INSERT_DECIDED_RUNS = `
  INSERT INTO debit_batches (uid, at, endpoints, runs)
  WITH RECURSIVE runs AS (${RUN_ROWS.selectSql}),
  unpaid AS (
    SELECT *, row_number() OVER (PARTITION BY account ORDER BY position) AS place
    FROM runs
    WHERE ${IS_UNPAID_RUN}
  ),
  covered AS (
    SELECT
      unpaid.*,
      min(count, balance / cost) AS covered_count,
      balance - cost * min(count, balance / cost) AS credits_left
    FROM unpaid
    JOIN accounts ON accounts.id = unpaid.account
    WHERE place = 1
    UNION ALL
    SELECT
      unpaid.*,
      min(unpaid.count, credits_left / unpaid.cost),
      credits_left - unpaid.cost * min(unpaid.count, credits_left / unpaid.cost)
    FROM covered
    JOIN unpaid ON unpaid.account = covered.account AND unpaid.place = covered.place + 1
  )
  SELECT
    ?3,
    ?4,
    ?5,
    json_group_array(
      json(
        iif(
          covered_count > 0,
          json_array(account, cost * covered_count, covered_count, key, endpoint),
          NULL
        )
      )
    )
  FROM (
    SELECT runs.*, covered_count
    FROM runs
    LEFT JOIN covered USING (position)
    ORDER BY position
  )
  WHERE true
  ON CONFLICT DO NOTHING`;

// It replaces expired payments, and those without a free repeat.
const INSERT_PAYMENTS = `
  INSERT OR REPLACE INTO payments (account, idempotency_key, request_hash, debit, at)
  SELECT runs.account, idempotency_key, request_hash, ?2, ?3
  FROM (${RUN_ROWS.selectSql}) AS runs
  JOIN debit_batches ON uid = ?2
  WHERE changes() > 0 AND ${debitAtSql("position")} IS NOT NULL AND idempotency_key IS NOT NULL`;

// A few at a time, so that a commit stays short. Expired payments that are left have no effect.
const DELETE_EXPIRED_PAYMENTS = `
  DELETE FROM payments
  WHERE at <= (
    SELECT max(at)
    FROM (SELECT at FROM payments WHERE at <= ? ORDER BY at LIMIT 200)
  )`;

/** The runs of accounts that exist; the balance is that before the run, as after the refunds. */
const SELECT_OUTCOMES = `
  SELECT
    position AS run,
    ifnull(${debitFieldSql("requests", "debit")}, 0) AS requests,
    balance + sum(ifnull(${debitFieldSql("amount", "debit")}, 0)) OVER (
      PARTITION BY account
      ORDER BY position DESC
    ) AS balance
  FROM (
    SELECT position, account, balance, ${debitAtSql("position")} AS debit
    FROM (${RUN_ROWS.selectSql}) AS runs
    JOIN accounts ON accounts.id = runs.account
    JOIN debit_batches ON uid = ?2
  )`;

const SELECT_PAYMENTS = `
  SELECT account, idempotency_key, payments.request_hash, debit, repeated_by
  FROM (${RUN_ROWS.selectSql}) AS run
  JOIN payments USING (account, idempotency_key)
  WHERE payments.at > ?2`;

/** The statements that decide and commit any runs, in their order. */
export function createGeneralStatements({ runs, uid, now, since }: RunBatch) {
  const { endpoints, rows: json } = encodeRuns(runs);
  const expiredUntil = now - PAYMENT_TTL_MS;
  const hasPayments = runs.some(({ idempotencyKey }) => idempotencyKey !== undefined);
  return {
    ...(hasPayments && {
      countRepeats: { sql: COUNT_REPEATS, args: [json, expiredUntil, uid] },
    }),
    insertDebits: { sql: INSERT_DECIDED_RUNS, args: [json, expiredUntil, uid, now, endpoints] },
    ...(hasPayments && {
      insertPayments: { sql: INSERT_PAYMENTS, args: [json, uid, now] },
      deleteExpiredPayments: { sql: DELETE_EXPIRED_PAYMENTS, args: [expiredUntil] },
      payments: { sql: SELECT_PAYMENTS, args: [json, expiredUntil] },
    }),
    outcomes: { sql: SELECT_OUTCOMES, args: [json, uid] },
    changes: selectCommitChanges(since),
  };
}
