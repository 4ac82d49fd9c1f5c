/** The proof that the ledger holds: every balance recomputed from the journal. */
import { sql } from "drizzle-orm";
import type { LedgerVerification } from "../../ports/ledger.ts";
import type { Database } from "../database/database.ts";

/**
 * Recomputes every balance from the journal and holds it against the account: the sums must agree
 * with the account's and with what was counted as used, no balance may ever have been negative, and
 * no debit may be refunded beyond its amount.
 */
export async function verifyLedger(database: Database): Promise<LedgerVerification> {
  const [sums, uses, negatives, overRefunds, counts] = await database.query((drizzle) =>
    drizzle.batch([
      drizzle.all<SumsRow>(SELECT_WRONG_SUMS),
      drizzle.all<UsageRow>(SELECT_WRONG_USAGE),
      drizzle.all<{ account: string; entry: number }>(SELECT_NEGATIVE_BALANCES),
      drizzle.all<{ account: string; debit: string }>(SELECT_OVER_REFUNDS),
      drizzle.all<{ accounts: number; entries: number }>(sql`SELECT
      (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM journal) AS entries`),
    ]),
  );
  const faults = [
    ...sums.map(({ account, ...row }) => ({
      account,
      problem:
        `the journal sums to ${row.granted} - ${row.debited} + ${row.refunded}, the account ` +
        `says ${row.accountGranted} - ${row.accountDebited} + ${row.accountRefunded} = ` +
        `${row.balance}`,
    })),
    ...uses.map(({ account, ...row }) => ({
      account,
      problem:
        `the usage sums to ${row.credits} - ${row.usageRefunded}, the account says ` +
        `${row.debited} - ${row.refunded}`,
    })),
    ...negatives.map(({ account, entry }) => ({
      account,
      problem: `the balance is negative after entry ${entry}`,
    })),
    ...overRefunds.map(({ account, debit }) => ({
      account,
      problem: `debit ${debit} is refunded beyond its amount, or is not there`,
    })),
  ];
  return { accounts: counts[0]?.accounts ?? 0, entries: counts[0]?.entries ?? 0, faults };
}

interface SumsRow {
  readonly account: string;
  readonly granted: number;
  readonly debited: number;
  readonly refunded: number;
  readonly accountGranted: number;
  readonly accountDebited: number;
  readonly accountRefunded: number;
  readonly balance: number;
}

const SELECT_WRONG_SUMS = sql`
  WITH sums AS (SELECT account,
    total(amount) FILTER (WHERE kind = 'grant') AS granted,
    total(amount) FILTER (WHERE kind = 'debit') AS debited,
    total(amount) FILTER (WHERE kind = 'refund') AS refunded
    FROM journal GROUP BY account)
  SELECT ifnull(a.name, 'no account ' || s.account) AS account, ifnull(s.granted, 0) AS granted,
    ifnull(s.debited, 0) AS debited, ifnull(s.refunded, 0) AS refunded,
    a.granted AS "accountGranted", a.debited AS "accountDebited",
    a.refunded AS "accountRefunded", a.balance AS balance
  FROM accounts AS a FULL JOIN sums AS s ON s.account = a.id
  WHERE a.id IS NULL OR ifnull(s.granted, 0) <> a.granted OR ifnull(s.debited, 0) <> a.debited
    OR ifnull(s.refunded, 0) <> a.refunded OR a.balance <> a.granted - a.debited + a.refunded`;

interface UsageRow {
  readonly account: string;
  readonly credits: number;
  readonly usageRefunded: number;
  readonly debited: number;
  readonly refunded: number;
}

const SELECT_WRONG_USAGE = sql`
  WITH sums AS (SELECT account, total(credits) AS credits, total(refunded) AS refunded
    FROM usage GROUP BY account)
  SELECT ifnull(a.name, 'no account ' || s.account) AS account,
    ifnull(s.credits, 0) AS credits, ifnull(s.refunded, 0) AS "usageRefunded",
    a.debited AS debited, a.refunded AS refunded
  FROM accounts AS a FULL JOIN sums AS s ON s.account = a.id
  WHERE a.id IS NULL OR ifnull(s.credits, 0) <> a.debited
    OR ifnull(s.refunded, 0) <> a.refunded`;

const SELECT_NEGATIVE_BALANCES = sql`
  SELECT name AS account, min(entry) AS entry FROM (SELECT account, entry,
    sum(CASE kind WHEN 'debit' THEN -amount ELSE amount END)
      OVER (PARTITION BY account ORDER BY entry) AS balance FROM journal) AS running
  JOIN accounts ON accounts.id = running.account WHERE running.balance < 0 GROUP BY name`;

const SELECT_OVER_REFUNDS = sql`
  SELECT name AS account, refund.debit AS debit FROM journal AS refund
  JOIN accounts ON accounts.id = refund.account
  LEFT JOIN journal AS debit ON debit.uid = refund.debit AND debit.account = refund.account
    AND debit.kind = 'debit'
  WHERE refund.kind = 'refund' GROUP BY name, refund.debit
  HAVING sum(refund.amount) > ifnull(max(debit.amount), 0)`;
