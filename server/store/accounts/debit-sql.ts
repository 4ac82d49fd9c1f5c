/**
 * The SQL that commits a batch of charges. It works on runs: equal charges of an account in a row,
 * with their number. Each run becomes an entry of the journal, whose trigger moves the balance and
 * the usage.
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
import { changeColumnsSql, selectChanges } from "../history/change-log.ts";
import { RUN_ROWS, type ChargeRun } from "./charge-runs.ts";

/** The runs of a batch. */
export interface RunBatch {
  readonly runs: readonly ChargeRun[];
  /** Identifies the batch. */
  readonly uid: string;
  readonly now: number;
  /** The last change that the caller knows of. */
  readonly since?: number | undefined;
}

// RETURNING reads a balance before the trigger of its row moves it.
const RETURNING_OUTCOME = `
  RETURNING
    run,
    account,
    requests,
    (SELECT balance FROM accounts WHERE id = account) AS balance,
    ${changeColumnsSql("?4")}`;

const INSERT_COVERED_RUN = `
  INSERT INTO journal (uid, account, kind, amount, at, requests, key, endpoint)
  SELECT ?2, id, 'debit', ?5, ?3, ?6, ?7, ?8
  FROM accounts
  WHERE id = ?1
  ${RETURNING_OUTCOME}`;

const INSERT_COVERED_RUNS = `
  INSERT INTO journal (uid, account, run, kind, amount, at, requests, key, endpoint)
  SELECT ?2, id, position, 'debit', cost * count, ?3, count, key, endpoint
  FROM (${RUN_ROWS.selectSql}) AS runs
  JOIN accounts ON id = account
  WHERE true
  ${RETURNING_OUTCOME}`;

/** The statement that commits runs without idempotency keys, if the balances cover them all. */
export function createCoveredStatement({ runs, uid, now, since }: RunBatch): Statement {
  const [run] = runs;
  const args = [uid, now, since ?? null];
  if (run === undefined || runs.length > 1) {
    return { sql: INSERT_COVERED_RUNS, args: [RUN_ROWS.serialize(runs), ...args] };
  }
  const { account, cost, count, key, endpoint } = run;
  return { sql: INSERT_COVERED_RUN, args: [account, ...args, cost * count, count, key, endpoint] };
}

/** Whether a run has to be paid for: its key has not paid, or has no free repeat left. */
const IS_UNPAID_RUN = `NOT EXISTS (
      SELECT 1
      FROM payments
      WHERE payments.account = runs.account
        AND payments.idempotency_key = runs.idempotency_key
        AND payments.at > ?2
        AND (
          repeats < ${FREE_REPEATS_MAX}
          OR runs.has_waited
          OR payments.request_hash <> runs.request_hash
        )
    )`;

/**
 * Inserts an entry for each run that is covered at least in part. A run is decided with the credits
 * that the runs of its account before it leave: one that costs too much takes none of them. The
 * first run of the batch leaves an entry in any case, so that a batch is committed only once.
 */
const INSERT_DECIDED_RUNS = `
  INSERT INTO journal (uid, account, run, kind, amount, at, requests, key, endpoint)
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
    ?3, runs.account, position, 'debit',
    runs.cost * ifnull(covered_count, 0), ?4, ifnull(covered_count, 0), runs.key, runs.endpoint
  FROM runs
  LEFT JOIN covered USING (position)
  WHERE (covered_count > 0 OR position = 0) AND NOT EXISTS (SELECT 1 FROM journal WHERE uid = ?3)`;

// It replaces expired payments, and those without a free repeat.
const INSERT_PAYMENTS = `
  INSERT OR REPLACE INTO payments (account, idempotency_key, request_hash, debit, at)
  SELECT runs.account, idempotency_key, request_hash, ?2, ?3
  FROM (${RUN_ROWS.selectSql}) AS runs
  JOIN journal AS debit ON uid = ?2 AND debit.account = runs.account AND run = position
  WHERE changes() > 0 AND refund = 0 AND requests > 0 AND idempotency_key IS NOT NULL`;

const COUNT_REPEATS = `
  WITH runs AS (${RUN_ROWS.selectSql})
  UPDATE payments
  SET repeats = repeats + 1, repeated_by = ?3
  FROM runs
  WHERE payments.account = runs.account
    AND payments.idempotency_key = runs.idempotency_key
    AND payments.request_hash = runs.request_hash
    AND payments.at > ?2
    AND debit <> ?3
    AND repeats < ${FREE_REPEATS_MAX}
    AND repeated_by IS NOT ?3
    AND NOT runs.has_waited`;

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
    runs.account,
    ifnull(requests, 0) AS requests,
    balance + sum(ifnull(amount, 0)) OVER (
      PARTITION BY runs.account
      ORDER BY position DESC
    ) AS balance
  FROM (${RUN_ROWS.selectSql}) AS runs
  JOIN accounts ON accounts.id = runs.account
  LEFT JOIN journal AS debit
    ON uid = ?2 AND debit.account = runs.account AND run = position AND refund = 0`;

const SELECT_PAYMENTS = `
  SELECT account, idempotency_key, payments.request_hash, debit, repeats, repeated_by
  FROM (${RUN_ROWS.selectSql}) AS run
  JOIN payments USING (account, idempotency_key)
  WHERE payments.at > ?2`;

/** The statements that decide and commit any runs, in their order. */
export function createGeneralStatements({ runs, uid, now, since }: RunBatch) {
  const json = RUN_ROWS.serialize(runs);
  const expiredUntil = now - PAYMENT_TTL_MS;
  const hasPayments = runs.some(({ idempotencyKey }) => idempotencyKey !== undefined);
  return {
    insertDebits: { sql: INSERT_DECIDED_RUNS, args: [json, expiredUntil, uid, now] },
    ...(hasPayments && {
      insertPayments: { sql: INSERT_PAYMENTS, args: [json, uid, now] },
      countRepeats: { sql: COUNT_REPEATS, args: [json, expiredUntil, uid] },
      deleteExpiredPayments: { sql: DELETE_EXPIRED_PAYMENTS, args: [expiredUntil] },
      payments: { sql: SELECT_PAYMENTS, args: [json, expiredUntil] },
    }),
    outcomes: { sql: SELECT_OUTCOMES, args: [json, uid] },
    changes: selectChanges(since),
  };
}
