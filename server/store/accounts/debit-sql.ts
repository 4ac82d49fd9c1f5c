/**
 * The SQL that commits a batch of charges. Most batches are one run without an idempotency key.
 * Their statements take its fields as arguments, which takes half the time of the general
 * statements; those take a JSON array of runs as ?1.
 *
 * Several processes debit one account, so the SQL decides: it restates core's `decideCharges()`.
 * `tests/store/accounts/charge-decisions.test.ts` compares both.
 */
import { PAYMENT_TTL_MS } from "../../../core/charges.ts";
import { FREE_REPEATS_MAX } from "../../../core/limits.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { Statement } from "../database/database.ts";
import { selectChanges } from "../history/change-log.ts";
import { groupIntoRuns, RUN_ROWS, type AccountCharge } from "./charge-runs.ts";

// Whether a run has to be paid for: of a batch without idempotency keys each, else those whose key
// has not paid, or has no free repeat left. Both use ?2, so that both take the same arguments.
const IS_ANY_RUN = "?2 IS NOT NULL";
const IS_UNPAID_RUN = `NOT EXISTS (
      SELECT 1
      FROM payments
      WHERE payments.account = runs.account
        AND payments.idempotency_key = runs.idempotency_key
        AND payments.at > ?2
        AND (
          repeats < ${FREE_REPEATS_MAX}
          OR runs.has_waited
          OR repeated_by = ?3
          OR payments.request_hash <> runs.request_hash
        )
    )`;

/**
 * The runs ?1 to pay for, each with how many of its charges are covered. A run is decided with the
 * credits that the runs of its account before it leave: one that costs too much takes none of them.
 * The join adds the column of these credits to `unpaid`.
 */
const withCoveredRunsSql = (isUnpaid: string, credits: string, join: string) => `
  WITH RECURSIVE runs AS (${RUN_ROWS.selectSql}),
  unpaid AS (
    SELECT *, row_number() OVER (PARTITION BY account ORDER BY position) AS place
    FROM runs
    WHERE ${isUnpaid}
  ),
  covered AS (
    SELECT
      unpaid.*,
      min(count, ${credits} / cost) AS covered_count,
      ${credits} - cost * min(count, ${credits} / cost) AS credits_left
    FROM unpaid
    ${join}
    WHERE place = 1
    UNION ALL
    SELECT
      unpaid.*,
      min(unpaid.count, credits_left / unpaid.cost),
      credits_left - unpaid.cost * min(unpaid.count, credits_left / unpaid.cost)
    FROM covered
    JOIN unpaid ON unpaid.account = covered.account AND unpaid.place = covered.place + 1
  )`;

const JOIN_BALANCES = "JOIN accounts ON accounts.id = unpaid.account";

/** The debits of the batch ?3 cover the same charges as the balances before it. */
const JOIN_DEBITS =
  "JOIN journal AS committed ON committed.uid = ?3 AND committed.account = unpaid.account";

/** Whether the batch was neither committed nor cancelled before. */
const isNewBatchSql = (uid: string) => `
    NOT EXISTS (SELECT 1 FROM journal WHERE uid = ${uid})
    AND NOT EXISTS (SELECT 1 FROM cancellations WHERE uid = ${uid})`;

const insertJournalSql = (isUnpaid: string) => `
  INSERT INTO journal (uid, account, kind, amount, at)
  ${withCoveredRunsSql(isUnpaid, "accounts.balance", JOIN_BALANCES)}
  SELECT ?3, account, 'debit', sum(cost * covered_count) AS amount, ?4
  FROM covered
  WHERE ${isNewBatchSql("?3")}
  GROUP BY account
  HAVING amount > 0`;

const INSERT_JOURNAL = insertJournalSql(IS_ANY_RUN);
const INSERT_JOURNAL_WITH_PAYMENTS = insertJournalSql(IS_UNPAID_RUN);

// The casts are needed because a JavaScript number binds as REAL, which divides with a fraction.
const INSERT_JOURNAL_OF_SINGLE_RUN = `
  INSERT INTO journal (uid, account, kind, amount, at)
  SELECT ?1, id, 'debit', cost * min(CAST(?5 AS INTEGER), balance / cost), ?2
  FROM accounts, (SELECT CAST(?4 AS INTEGER) AS cost)
  WHERE id = ?3 AND balance >= cost AND ${isNewBatchSql("?1")}`;

// The statement before must have written: so a batch that is committed again changes nothing.
const UPDATE_BALANCES = `
  UPDATE accounts
  SET debited = debited + committed.amount, balance = balance - committed.amount
  FROM journal AS committed
  WHERE committed.uid = ? AND committed.account = accounts.id AND changes() > 0`;

const ON_USAGE_CONFLICT = `
  ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET
    requests = requests + excluded.requests,
    credits = credits + excluded.credits`;

const upsertUsageSql = (isUnpaid: string) => `
  INSERT INTO usage (account, hour, key, endpoint, requests, credits)
  ${withCoveredRunsSql(isUnpaid, "committed.amount", JOIN_DEBITS)}
  SELECT account, ?4, key, endpoint, sum(covered_count), sum(cost * covered_count)
  FROM covered
  WHERE changes() > 0 AND covered_count > 0
  GROUP BY account, key, endpoint
  ${ON_USAGE_CONFLICT}`;

const UPSERT_USAGE = upsertUsageSql(IS_ANY_RUN);
const UPSERT_USAGE_WITH_PAYMENTS = upsertUsageSql(IS_UNPAID_RUN);

const UPSERT_USAGE_OF_SINGLE_RUN = `
  INSERT INTO usage (account, hour, key, endpoint, requests, credits)
  SELECT account, ?2, ?5, ?6, amount / CAST(?4 AS INTEGER), amount
  FROM journal
  WHERE uid = ?1 AND account = ?3 AND changes() > 0
  ${ON_USAGE_CONFLICT}`;

// It replaces expired payments, and those without a free repeat.
const INSERT_PAYMENTS = `
  INSERT OR REPLACE INTO payments (account, idempotency_key, request_hash, debit, at)
  ${withCoveredRunsSql(IS_UNPAID_RUN, "committed.amount", JOIN_DEBITS)}
  SELECT account, idempotency_key, request_hash, ?3, ?4
  FROM covered
  WHERE changes() > 0 AND idempotency_key IS NOT NULL AND covered_count > 0`;

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

const selectOutcomesSql = (accounts: string) => `
  SELECT accounts.id AS account, balance, ifnull(committed.amount, 0) AS amount
  FROM accounts
  LEFT JOIN journal AS committed
    ON committed.uid = ?2 AND committed.account = accounts.id AND committed.kind = 'debit'
  WHERE accounts.id ${accounts}`;

const SELECT_OUTCOMES = selectOutcomesSql(`IN (SELECT account FROM (${RUN_ROWS.selectSql}))`);

const SELECT_OUTCOMES_OF_SINGLE_RUN = selectOutcomesSql("= ?1");

const SELECT_PAYMENTS = `
  SELECT account, idempotency_key, payments.request_hash, debit, repeats, repeated_by
  FROM (${RUN_ROWS.selectSql}) AS run
  JOIN payments USING (account, idempotency_key)
  WHERE payments.at > ?2`;

/** The statements of a commit; the last four only if a charge has an idempotency key. */
type CommitStatements = Record<
  "insertJournal" | "updateBalances" | "upsertUsage" | "outcomes" | "changes",
  Statement
> &
  Partial<
    Record<"insertPayments" | "countRepeats" | "deleteExpiredPayments" | "payments", Statement>
  >;

export const createOutcomeQueries = (runsJson: string, uid: string, after: number) => ({
  outcomes: { sql: SELECT_OUTCOMES, args: [runsJson, uid] },
  payments: { sql: SELECT_PAYMENTS, args: [runsJson, after] },
});

/** Creates the statements of a commit. Each depends on the changes of the one before it. */
export function createCommitStatements(
  charges: readonly AccountCharge[],
  uid: string,
  now: number,
  since: number | undefined,
): CommitStatements {
  const runs = groupIntoRuns(charges);
  const hour = Math.floor(now / HOUR_MS);
  const expiredUntil = now - PAYMENT_TTL_MS;
  const updateBalances = { sql: UPDATE_BALANCES, args: [uid] };
  const changes = selectChanges(since);
  const [run] = runs;
  if (run !== undefined && runs.length === 1 && run.idempotencyKey === undefined) {
    const { account, cost, key, endpoint, count } = run;
    return {
      insertJournal: { sql: INSERT_JOURNAL_OF_SINGLE_RUN, args: [uid, now, account, cost, count] },
      updateBalances,
      upsertUsage: {
        sql: UPSERT_USAGE_OF_SINGLE_RUN,
        args: [uid, hour, account, cost, key, endpoint],
      },
      outcomes: { sql: SELECT_OUTCOMES_OF_SINGLE_RUN, args: [account, uid] },
      changes,
    };
  }
  const json = RUN_ROWS.serialize(runs);
  const selected = createOutcomeQueries(json, uid, expiredUntil);
  const hasPayments = runs.some(({ idempotencyKey }) => idempotencyKey !== undefined);
  return {
    insertJournal: {
      sql: hasPayments ? INSERT_JOURNAL_WITH_PAYMENTS : INSERT_JOURNAL,
      args: [json, expiredUntil, uid, now],
    },
    updateBalances,
    upsertUsage: {
      sql: hasPayments ? UPSERT_USAGE_WITH_PAYMENTS : UPSERT_USAGE,
      args: [json, expiredUntil, uid, hour],
    },
    outcomes: selected.outcomes,
    changes,
    ...(hasPayments && {
      insertPayments: { sql: INSERT_PAYMENTS, args: [json, expiredUntil, uid, now] },
      countRepeats: { sql: COUNT_REPEATS, args: [json, expiredUntil, uid] },
      deleteExpiredPayments: { sql: DELETE_EXPIRED_PAYMENTS, args: [expiredUntil] },
      payments: selected.payments,
    }),
  };
}
