/**
 * The statements of a commit of debits. Those of many runs take the JSON array of the runs: of each
 * the account, cost, key, endpoint, count, and the idempotency key with what it asks for or nulls.
 * Nearly all commits have one run that is paid for with nothing but credits; its statements say the
 * same of it in half the time.
 */
import { LAST_CHANGE } from "./changes.ts";
import type { Statement } from "./connection.ts";
import { element } from "./json.ts";

/** Requests of one account, price, key and endpoint; `name` and `request` are of a payment. */
export type Run = [
  account: number,
  cost: number,
  key: number,
  endpoint: string,
  count: number,
  name: string | null,
  request: string | null,
];

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

const INTO_JOURNAL = "INSERT INTO journal (uid, account, kind, amount, at) ";

/** Whether a group was neither committed nor withdrawn before. */
const isNew = (uid: string) =>
  `NOT EXISTS (SELECT 1 FROM journal WHERE uid = ${uid}) ` +
  `AND NOT EXISTS (SELECT 1 FROM withdrawals WHERE uid = ${uid})`;

const journalOf = (isPaid: boolean) =>
  INTO_JOURNAL +
  placed(isPaid) +
  `SELECT ?3, account, 'debit', sum(cost * ${covered("balance")}) AS amount, ?4 ` +
  "FROM placed JOIN accounts ON accounts.id = placed.account " +
  `WHERE ${isNew("?3")} GROUP BY account HAVING amount > 0`;

const JOURNAL = journalOf(false);
const JOURNAL_WITH_PAYMENTS = journalOf(true);

// A number of JavaScript comes as a REAL.
const JOURNAL_OF_ONE =
  INTO_JOURNAL +
  "SELECT ?1, id, 'debit', cost * min(CAST(?5 AS INTEGER), balance / cost), ?2 " +
  "FROM accounts, (SELECT CAST(?4 AS INTEGER) AS cost) " +
  `WHERE id = ?3 AND balance >= cost AND ${isNew("?1")}`;

const BALANCES =
  "UPDATE accounts SET debited = debited + entry.amount, balance = balance - entry.amount " +
  "FROM journal AS entry WHERE entry.uid = ? AND entry.account = accounts.id AND changes() > 0";

const INTO_USAGE = "INSERT INTO usage (account, hour, key, endpoint, requests, credits) ";

const ADD_TO_USAGE =
  "ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET " +
  "requests = requests + excluded.requests, credits = credits + excluded.credits";

const usageOf = (isPaid: boolean) =>
  INTO_USAGE +
  placed(isPaid) +
  `SELECT placed.account, ?4, key, endpoint, sum(${covered("amount")}), ` +
  `sum(cost * ${covered("amount")}) FROM placed ` +
  "JOIN journal AS entry ON entry.uid = ?3 AND entry.account = placed.account " +
  `WHERE changes() > 0 AND ${covered("amount")} > 0 GROUP BY placed.account, key, endpoint ` +
  ADD_TO_USAGE;

const USAGE = usageOf(false);
const USAGE_WITH_PAYMENTS = usageOf(true);

const USAGE_OF_ONE =
  INTO_USAGE +
  "SELECT account, ?2, ?5, ?6, amount / CAST(?4 AS INTEGER), amount FROM journal " +
  `WHERE uid = ?1 AND account = ?3 AND changes() > 0 ${ADD_TO_USAGE}`;

/** Some at a time, so that a commit stays short; those that are left count for nothing. */
const FORGET_PAYMENTS =
  "DELETE FROM payments WHERE at <= " +
  "(SELECT max(at) FROM (SELECT at FROM payments WHERE at <= ? ORDER BY at LIMIT 200))";

/** Notes what was paid for, forgets some of what was long ago, and tells what is paid for. */
function rememberPayments(runs: string, forgotten: number, uid: string, now: number): Statement[] {
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
    { sql: FORGET_PAYMENTS, args: [forgotten] },
    { sql: PAYMENTS, args: [runs, forgotten] },
  ];
}

const outcomesOf = (accounts: string) =>
  "SELECT accounts.id AS account, balance, ifnull(entry.amount, 0) AS amount FROM accounts " +
  "LEFT JOIN journal AS entry ON entry.uid = ?2 AND entry.account = accounts.id " +
  `AND entry.kind = 'debit' WHERE accounts.id ${accounts}`;

export const OUTCOMES = outcomesOf(`IN (SELECT ${element(0)} FROM json_each(?1))`);

const OUTCOMES_OF_ONE = outcomesOf("= ?1");

export const PAYMENTS =
  "SELECT payments.account AS account, payments.name AS name, payments.request AS request, " +
  "payments.debit AS debit FROM json_each(?1) AS run JOIN payments " +
  `ON payments.account = ${element(0, "run.value")} ` +
  `AND payments.name = ${element(5, "run.value")} ` +
  "WHERE payments.at > ?2";

const CHANGES =
  `SELECT ${LAST_CHANGE} AS sequence, ` +
  "(SELECT json_group_array(json_array(sequence, json(subjects))) FROM changes " +
  "WHERE sequence > ?1) AS changes";

/** A commit of runs. */
export interface Commit {
  readonly uid: string;
  /** In milliseconds since 1970 UTC. */
  readonly now: number;
  /** In hours since then. */
  readonly hour: number;
  /** The last change that the caller knows of. */
  readonly since: number | undefined;
  /** Payments that are this old are forgotten. */
  readonly forgotten: number;
}

/**
 * The statements that commit runs. The fourth tells what became of the accounts, the fifth what
 * changed since, and, where something is paid with an idempotency key, the eighth those payments.
 */
export function commitRuns(runs: readonly Run[], commit: Commit): Statement[] {
  const { uid, now, hour, since, forgotten } = commit;
  const changes = { sql: CHANGES, args: [since ?? null] };
  const [one] = runs;
  if (one !== undefined && runs.length === 1 && one[5] === null) {
    const [account, cost, key, endpoint, count] = one;
    return [
      { sql: JOURNAL_OF_ONE, args: [uid, now, account, cost, count] },
      { sql: BALANCES, args: [uid] },
      { sql: USAGE_OF_ONE, args: [uid, hour, account, cost, key, endpoint] },
      { sql: OUTCOMES_OF_ONE, args: [account, uid] },
      changes,
    ];
  }
  const json = JSON.stringify(runs);
  const isPaid = runs.some(([, , , , , name]) => name !== null);
  return [
    { sql: isPaid ? JOURNAL_WITH_PAYMENTS : JOURNAL, args: [json, forgotten, uid, now] },
    { sql: BALANCES, args: [uid] },
    { sql: isPaid ? USAGE_WITH_PAYMENTS : USAGE, args: [json, forgotten, uid, hour] },
    { sql: OUTCOMES, args: [json, uid] },
    changes,
    ...(isPaid ? rememberPayments(json, forgotten, uid, now) : []),
  ];
}
