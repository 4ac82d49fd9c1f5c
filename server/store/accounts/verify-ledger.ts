/** Verifies the ledger: recomputes every balance from the journal and its folded entries. */
import { sql } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import { debitAtSql, debitFieldSql } from "./charge-runs.ts";
import { ALL_ENTRIES } from "./fold-journal.ts";
import { USAGE } from "./usage-sql.ts";

/** An account whose journal and sums disagree, and how. */
type LedgerFault = Readonly<Record<"account" | "problem", string>>;

/**
 * Recomputes every balance from the journal and compares it with the account: the sums must agree
 * with those of the account and of the usage, no balance may be negative, and no debit may be
 * refunded beyond its amount.
 */
export async function verifyLedger(database: Pick<Database, "query">) {
  const [[counts], ...faults] = await database.query((drizzle) =>
    drizzle.batch([
      drizzle.all<{ accounts: number; entries: number }>(SELECT_COUNTS),
      drizzle.all<LedgerFault>(SELECT_WRONG_SUMS),
      drizzle.all<LedgerFault>(SELECT_WRONG_USAGE),
      drizzle.all<LedgerFault>(SELECT_OVER_REFUNDS),
    ]),
  );
  return { accounts: 0, entries: 0, ...counts, faults: faults.flat() };
}

const ENTRIES = sql.raw(ALL_ENTRIES);

/** Counts the accounts, and all entries, folded ones too. */
const SELECT_COUNTS = sql`
  SELECT
    (SELECT count(*) FROM accounts) AS accounts,
    (SELECT ifnull(sum(count), 0) FROM ${ENTRIES}) AS entries`;

// total() is REAL and can't overflow; the casts write it without a fraction.
const SELECT_WRONG_SUMS = sql`
  WITH sums AS (
    SELECT
      account,
      CAST(total(amount) FILTER (WHERE kind = 'grant') AS INTEGER) AS granted,
      CAST(total(amount) FILTER (WHERE kind = 'debit') AS INTEGER) AS debited,
      CAST(total(amount) FILTER (WHERE kind = 'refund') AS INTEGER) AS refunded
    FROM ${ENTRIES}
    GROUP BY account
  ),
  compared AS (
    SELECT
      a.*,
      ifnull(a.name, 'no account ' || s.account) AS account,
      ifnull(s.granted, 0) AS sum_granted,
      ifnull(s.debited, 0) AS sum_debited,
      ifnull(s.refunded, 0) AS sum_refunded
    FROM accounts AS a
    FULL JOIN sums AS s ON s.account = a.id
  )
  SELECT
    account,
    format(
      'the journal sums to %s - %s + %s, the account says %s - %s + %s = %s',
      sum_granted, sum_debited, sum_refunded,
      ifnull(granted, 'null'), ifnull(debited, 'null'), ifnull(refunded, 'null'),
      ifnull(balance, 'null')
    ) AS problem
  FROM compared
  WHERE id IS NULL
    OR (sum_granted, sum_debited, sum_refunded) <> (granted, debited, refunded)
    OR balance <> granted - debited + refunded
    OR balance < 0`;

const SELECT_WRONG_USAGE = sql`
  WITH sums AS (
    SELECT
      account,
      CAST(total(credits) AS INTEGER) AS credits,
      CAST(total(refunded) AS INTEGER) AS refunded
    FROM ${sql.raw(USAGE)}
    GROUP BY account
  )
  SELECT
    ifnull(a.name, 'no account ' || s.account) AS account,
    format(
      'the usage sums to %s - %s, the account says %s - %s',
      ifnull(s.credits, 0), ifnull(s.refunded, 0),
      ifnull(a.debited, 'null'), ifnull(a.refunded, 'null')
    ) AS problem
  FROM accounts AS a
  FULL JOIN sums AS s ON s.account = a.id
  WHERE a.id IS NULL
    OR (ifnull(s.credits, 0), ifnull(s.refunded, 0)) <> (a.debited, a.refunded)`;

const SELECT_OVER_REFUNDS = sql`
  WITH refunds AS (
    SELECT uid, account, run, sum(amount) AS amount
    FROM journal
    WHERE kind = 'refund'
    GROUP BY uid, account, run
  )
  SELECT
    name AS account,
    'debit ' || uid || ' is refunded beyond its amount, or is not there' AS problem
  FROM refunds
  JOIN accounts ON accounts.id = refunds.account
  WHERE amount > ifnull(
    (
      SELECT ${sql.raw(debitFieldSql("amount", debitAtSql("refunds.run")))}
      FROM debit_batches
      WHERE uid = refunds.uid
        AND ${sql.raw(debitFieldSql("account", debitAtSql("refunds.run")))} = refunds.account
    ),
    0
  )`;
