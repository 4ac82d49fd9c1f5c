/**
 * The statements of a commit of debits. Those of many runs take the JSON array of the runs: of each
 * the account, cost, key, endpoint, count, and the idempotency key with what it asks for or nulls.
 * Nearly all commits have one run that is paid for with nothing but credits; its statements say the
 * same of it in half the time.
 */
import { selectChanges } from "../history/change-log.ts";
import type { Statement } from "../database/database.ts";
import { jsonExtractSql } from "../tables/json-sql.ts";

/** Requests of one account, price, key and endpoint; `name` and `request` are of a payment. */
export type ChargeRun = [
  account: number,
  cost: number,
  key: number,
  endpoint: string,
  count: number,
  name: string | null,
  request: string | null,
];

/** The elements of a run, in their order. */
const RUN_FIELDS = ["account", "cost", "key", "endpoint", "count", "name", "request"];

const RUN_COLUMNS = RUN_FIELDS.map(
  (name, index) => `${jsonExtractSql(index, "run.value")} AS ${name}`,
);

const SELECT_RUNS = `SELECT run.key AS run, ${RUN_COLUMNS.join(", ")} FROM json_each(?1) AS run`;

const IS_ALREADY_PAID =
  "EXISTS (SELECT 1 FROM payments WHERE payments.account = waiting.account " +
  "AND payments.idempotency_key = waiting.name AND payments.at > ?2)";

/** The runs that cost something, each with what the account's runs before it cost. */
const withUnpaidRunsSql = (hasPayments: boolean) =>
  `WITH waiting AS (${SELECT_RUNS}), placed AS (SELECT *, ifnull(sum(cost * count) OVER (` +
  "PARTITION BY account ORDER BY run ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) " +
  `AS before FROM waiting WHERE ${hasPayments ? `NOT ${IS_ALREADY_PAID}` : "?2 IS NOT NULL"}) `;

/** How many requests of a run so many credits cover. */
const coveredCountSql = (credits: string) => `max(0, min(count, (${credits} - before) / cost))`;

const INSERT_INTO_JOURNAL = "INSERT INTO journal (uid, account, kind, amount, at) ";

/** Whether a group was neither committed nor withdrawn before. */
const isNewGroupSql = (uid: string) =>
  `NOT EXISTS (SELECT 1 FROM journal WHERE uid = ${uid}) ` +
  `AND NOT EXISTS (SELECT 1 FROM cancellations WHERE uid = ${uid})`;

const insertJournalSql = (hasPayments: boolean) =>
  INSERT_INTO_JOURNAL +
  withUnpaidRunsSql(hasPayments) +
  `SELECT ?3, account, 'debit', sum(cost * ${coveredCountSql("balance")}) AS amount, ?4 ` +
  "FROM placed JOIN accounts ON accounts.id = placed.account " +
  `WHERE ${isNewGroupSql("?3")} GROUP BY account HAVING amount > 0`;

const INSERT_JOURNAL = insertJournalSql(false);
const INSERT_JOURNAL_WITH_PAYMENTS = insertJournalSql(true);

// A number of JavaScript comes as a REAL.
const INSERT_JOURNAL_OF_SINGLE_RUN =
  INSERT_INTO_JOURNAL +
  "SELECT ?1, id, 'debit', cost * min(CAST(?5 AS INTEGER), balance / cost), ?2 " +
  "FROM accounts, (SELECT CAST(?4 AS INTEGER) AS cost) " +
  `WHERE id = ?3 AND balance >= cost AND ${isNewGroupSql("?1")}`;

const UPDATE_BALANCES =
  "UPDATE accounts SET debited = debited + entry.amount, balance = balance - entry.amount " +
  "FROM journal AS entry WHERE entry.uid = ? AND entry.account = accounts.id AND changes() > 0";

const INSERT_INTO_USAGE = "INSERT INTO usage (account, hour, key, endpoint, requests, credits) ";

const ON_USAGE_CONFLICT =
  "ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET " +
  "requests = requests + excluded.requests, credits = credits + excluded.credits";

const upsertUsageSql = (hasPayments: boolean) =>
  INSERT_INTO_USAGE +
  withUnpaidRunsSql(hasPayments) +
  `SELECT placed.account, ?4, key, endpoint, sum(${coveredCountSql("amount")}), ` +
  `sum(cost * ${coveredCountSql("amount")}) FROM placed ` +
  "JOIN journal AS entry ON entry.uid = ?3 AND entry.account = placed.account " +
  `WHERE changes() > 0 AND ${coveredCountSql("amount")} > 0 GROUP BY placed.account, key, endpoint ` +
  ON_USAGE_CONFLICT;

const UPSERT_USAGE = upsertUsageSql(false);
const UPSERT_USAGE_WITH_PAYMENTS = upsertUsageSql(true);

const UPSERT_USAGE_OF_SINGLE_RUN =
  INSERT_INTO_USAGE +
  "SELECT account, ?2, ?5, ?6, amount / CAST(?4 AS INTEGER), amount FROM journal " +
  `WHERE uid = ?1 AND account = ?3 AND changes() > 0 ${ON_USAGE_CONFLICT}`;

/** Some at a time, so that a commit stays short; those that are left count for nothing. */
const DELETE_EXPIRED_PAYMENTS =
  "DELETE FROM payments WHERE at <= " +
  "(SELECT max(at) FROM (SELECT at FROM payments WHERE at <= ? ORDER BY at LIMIT 200))";

/** Notes what was paid for, forgets some of what was long ago, and tells what is paid for. */
function createPaymentStatements(
  runs: string,
  expiredUntil: number,
  uid: string,
  now: number,
): Statement[] {
  return [
    {
      sql:
        "INSERT INTO payments (account, idempotency_key, request_hash, debit, at) " +
        withUnpaidRunsSql(true) +
        "SELECT placed.account, name, request, ?3, ?4 FROM placed " +
        "JOIN journal AS entry ON entry.uid = ?3 AND entry.account = placed.account " +
        `WHERE changes() > 0 AND name IS NOT NULL AND ${coveredCountSql("amount")} > 0 ` +
        "ON CONFLICT (account, idempotency_key) DO UPDATE SET request_hash = excluded.request_hash, " +
        "debit = excluded.debit, at = excluded.at",
      args: [runs, expiredUntil, uid, now],
    },
    { sql: DELETE_EXPIRED_PAYMENTS, args: [expiredUntil] },
    { sql: SELECT_PAYMENTS, args: [runs, expiredUntil] },
  ];
}

const selectOutcomesSql = (accounts: string) =>
  "SELECT accounts.id AS account, balance, ifnull(entry.amount, 0) AS amount FROM accounts " +
  "LEFT JOIN journal AS entry ON entry.uid = ?2 AND entry.account = accounts.id " +
  `AND entry.kind = 'debit' WHERE accounts.id ${accounts}`;

export const SELECT_OUTCOMES = selectOutcomesSql(
  `IN (SELECT ${jsonExtractSql(0)} FROM json_each(?1))`,
);

const SELECT_OUTCOMES_OF_SINGLE_RUN = selectOutcomesSql("= ?1");

export const SELECT_PAYMENTS =
  "SELECT payments.account AS account, payments.idempotency_key AS idempotency_key, " +
  "payments.request_hash AS request_hash, " +
  "payments.debit AS debit FROM json_each(?1) AS run JOIN payments " +
  `ON payments.account = ${jsonExtractSql(0, "run.value")} ` +
  `AND payments.idempotency_key = ${jsonExtractSql(5, "run.value")} ` +
  "WHERE payments.at > ?2";

/** A commit of runs. */
export interface DebitCommit {
  readonly uid: string;
  /** In milliseconds since 1970 UTC. */
  readonly now: number;
  /** In hours since then. */
  readonly hour: number;
  /** The last change that the caller knows of. */
  readonly since: number | undefined;
  /** Payments that are this old are forgotten. */
  readonly expiredUntil: number;
}

/**
 * The statements that commit runs. The fourth tells what became of the accounts, the fifth what
 * changed since, and, where something is paid with an idempotency key, the eighth those payments.
 */
export function createCommitStatements(
  runs: readonly ChargeRun[],
  commit: DebitCommit,
): Statement[] {
  const { uid, now, hour, since, expiredUntil: forgotten } = commit;
  const changes = selectChanges(since);
  const [firstRun] = runs;
  if (firstRun !== undefined && runs.length === 1 && firstRun[5] === null) {
    const [account, cost, key, endpoint, count] = firstRun;
    return [
      { sql: INSERT_JOURNAL_OF_SINGLE_RUN, args: [uid, now, account, cost, count] },
      { sql: UPDATE_BALANCES, args: [uid] },
      { sql: UPSERT_USAGE_OF_SINGLE_RUN, args: [uid, hour, account, cost, key, endpoint] },
      { sql: SELECT_OUTCOMES_OF_SINGLE_RUN, args: [account, uid] },
      changes,
    ];
  }
  const json = JSON.stringify(runs);
  const hasPayments = runs.some(([, , , , , name]) => name !== null);
  return [
    {
      sql: hasPayments ? INSERT_JOURNAL_WITH_PAYMENTS : INSERT_JOURNAL,
      args: [json, forgotten, uid, now],
    },
    { sql: UPDATE_BALANCES, args: [uid] },
    {
      sql: hasPayments ? UPSERT_USAGE_WITH_PAYMENTS : UPSERT_USAGE,
      args: [json, forgotten, uid, hour],
    },
    { sql: SELECT_OUTCOMES, args: [json, uid] },
    changes,
    ...(hasPayments ? createPaymentStatements(json, forgotten, uid, now) : []),
  ];
}
