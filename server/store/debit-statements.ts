/**
 * The statements of a commit of debits. Their first argument is the JSON array of the runs: of each
 * the account, cost, key, endpoint, count, and the idempotency key with what it asks for or nulls.
 */
import { element } from "./json.ts";
import type { Statement } from "./writer.ts";

/** The elements of a run, in their order. */
const FIELDS = ["account", "cost", "key", "endpoint", "count", "name", "request"];

const fields = FIELDS.map((name, index) => `${element(index, "run.value")} AS ${name}`);

const WAITING = `SELECT run.key AS run, ${fields.join(", ")} FROM json_each(?1) AS run`;

const PAID =
  "EXISTS (SELECT 1 FROM payments WHERE payments.account = waiting.account " +
  "AND payments.name = waiting.name AND payments.at > ?2)";

/** The runs that cost something, each with what the account's runs before it cost. */
const placed = (isPaid: boolean) =>
  `WITH waiting AS (${WAITING}), placed AS (SELECT *, ifnull(sum(cost * count) OVER (` +
  "PARTITION BY account ORDER BY run ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) " +
  `AS before FROM waiting WHERE ${isPaid ? `NOT ${PAID}` : "?2 IS NOT NULL"}) `;

/** How many requests of a run so many credits cover. */
const covered = (credits: string) => `max(0, min(count, (${credits} - before) / cost))`;

const journalOf = (isPaid: boolean) =>
  "INSERT INTO journal (uid, account, kind, amount, at) " +
  placed(isPaid) +
  `SELECT ?3, account, 'debit', sum(cost * ${covered("balance")}) AS amount, ?4 ` +
  "FROM placed JOIN accounts ON accounts.id = placed.account " +
  "WHERE NOT EXISTS (SELECT 1 FROM journal WHERE uid = ?3) " +
  "AND NOT EXISTS (SELECT 1 FROM withdrawals WHERE uid = ?3) " +
  "GROUP BY account HAVING amount > 0";

export const JOURNAL = journalOf(false);
export const JOURNAL_WITH_PAYMENTS = journalOf(true);

export const BALANCES =
  "UPDATE accounts SET debited = debited + entry.amount, balance = balance - entry.amount " +
  "FROM journal AS entry WHERE entry.uid = ? AND entry.account = accounts.id AND changes() > 0";

const usageOf = (isPaid: boolean) =>
  "INSERT INTO usage (account, hour, key, endpoint, requests, credits) " +
  placed(isPaid) +
  `SELECT placed.account, ?4, key, endpoint, sum(${covered("amount")}), ` +
  `sum(cost * ${covered("amount")}) FROM placed ` +
  "JOIN journal AS entry ON entry.uid = ?3 AND entry.account = placed.account " +
  `WHERE changes() > 0 AND ${covered("amount")} > 0 GROUP BY placed.account, key, endpoint ` +
  "ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET " +
  "requests = requests + excluded.requests, credits = credits + excluded.credits";

export const USAGE = usageOf(false);
export const USAGE_WITH_PAYMENTS = usageOf(true);

/** Notes what was paid for, and forgets what was long ago. */
export function rememberPayments(
  runs: string,
  forgotten: number,
  uid: string,
  now: number,
): Statement[] {
  return [
    {
      sql:
        "INSERT INTO payments (account, name, request, debit, at) " +
        placed(true) +
        "SELECT placed.account, name, request, ?3, ?4 FROM placed " +
        "JOIN journal AS entry ON entry.uid = ?3 AND entry.account = placed.account " +
        `WHERE changes() > 0 AND name IS NOT NULL AND ${covered("amount")} > 0 ` +
        "ON CONFLICT (account, name) DO UPDATE SET request = excluded.request, " +
        "debit = excluded.debit, at = excluded.at",
      args: [runs, forgotten, uid, now],
    },
    { sql: "DELETE FROM payments WHERE at <= ?", args: [forgotten] },
  ];
}

export const OUTCOMES =
  "SELECT accounts.id AS account, balance, ifnull(entry.amount, 0) AS amount FROM accounts " +
  "LEFT JOIN journal AS entry ON entry.uid = ?2 AND entry.account = accounts.id " +
  `AND entry.kind = 'debit' WHERE accounts.id IN (SELECT ${element(0)} FROM json_each(?1))`;

export const PAYMENTS =
  "SELECT payments.account AS account, payments.name AS name, payments.request AS request, " +
  "payments.debit AS debit FROM json_each(?1) AS run JOIN payments " +
  `ON payments.account = ${element(0, "run.value")} ` +
  `AND payments.name = ${element(5, "run.value")} ` +
  "WHERE payments.at > ?2";

export const CHANGES =
  "SELECT ifnull((SELECT max(sequence) FROM changes), 0) AS sequence, " +
  "(SELECT json_group_array(json_array(sequence, json(subjects))) FROM changes " +
  "WHERE sequence > ?1) AS changes";
