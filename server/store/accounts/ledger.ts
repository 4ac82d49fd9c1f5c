/**
 * The credit ledger in the database. Every change of a balance is an entry of the journal or a
 * debit of a batch. Triggers of both move the sums of the account. Each has a `uid` made before
 * it, so a write that is retried, because its response was lost, is applied once. So the conditions
 * of core's `applyEntry()` are in SQL; `tests/store/accounts/ledger.test.ts` compares both.
 */
import { asc, eq, getTableColumns, sql, type SQL } from "drizzle-orm";
import {
  assertCreditAmount,
  createSumTooLargeError,
  createReferenceConflictError,
} from "../../../core/ledger.ts";
import { DomainError } from "../../../core/errors.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import type { CreditStore } from "../../../core/stores.ts";
import type { DayRange } from "../../../core/usage.ts";
import { addAdvice } from "../../system-errors.ts";
import { writeNamed, type Database } from "../database/database.ts";
import {
  parseCommitChanges,
  readCommitColumns,
  selectCommitChanges,
  type CommitChangeSet,
} from "../history/commit-changes.ts";
import { cancelDebits, commitDebits } from "./debits.ts";
import { type Debit, refundDebits } from "./refunds.ts";
import { commitRunBatch, type CommitRuns } from "./run-batches.ts";
import { accounts } from "../tables/account-tables.ts";
import { addStatuses, readStatement, readUsage } from "./usage-and-statements.ts";
import { RECENT_HOUR } from "./usage-sql.ts";

/** The ledger: debits and refunds, accounts, grants, statements and usage. */
export type LedgerStore = ReturnType<typeof createLedgerStore>;

/**
 * Creates the ledger. Instants (`now`) are milliseconds since 1970 UTC; amounts are credits.
 *
 * @param commitRuns Commits the charges of a batch; by default directly in the database.
 */
export function createLedgerStore(
  database: Database,
  commitRuns: CommitRuns = commitRunBatch.bind(null, database),
) {
  return {
    createAccount: createAccount.bind(null, database),
    accounts: listAccounts.bind(null, database),
    accountOf: getAccountById.bind(null, database),
    account: getAccountByName.bind(null, database),
    setLowBalance: setLowBalance.bind(null, database),
    grant: grantCredits.bind(null, database),
    debit: commitDebits.bind(null, commitRuns),
    // The id is not needed: a debit is refunded once.
    refund: (debit: Debit, _id: string, reason: string, now: number) =>
      refundDebits(database, [{ debit, reason }], now),
    refundAll: (refunds: Parameters<typeof refundDebits>[1], now: number) =>
      refundDebits(database, refunds, now),
    cancel: cancelDebits.bind(null, database),
    /** The changes since a number, as a commit of debits lists them. */
    async readChanges(since: number | undefined): Promise<CommitChangeSet> {
      const [row] = await database.queryRows(selectCommitChanges(since));
      return parseCommitChanges(readCommitColumns(row), since);
    },
    usage: readUsage.bind(null, database),
    addStatuses: addStatuses.bind(null, database),
    async statement(name: string, range: Parameters<typeof readStatement>[2], limit: number) {
      const { id } = await getAccountByName(database, name);
      return readStatement(database, id, range, limit);
    },
    /** Whether a commit that failed with this error debited nothing for certain. */
    isRolledBack: database.isRolledBack,
  };
}

/** The columns of an account without its recent usage, which usage-sql.ts reads. */
const {
  recentAt: _at,
  recentKey: _key,
  recentEndpoint: _endpoint,
  recentRequests: _requests,
  recentCredits: _credits,
  ...COLUMNS
} = getTableColumns(accounts);

const INSERT_ACCOUNT = `
  INSERT INTO accounts (name, created_at)
  VALUES (?, ?)
  ON CONFLICT DO NOTHING
  RETURNING id`;

const INSERT_FIRST_GRANT = `
  INSERT INTO journal (uid, account, kind, amount, at)
  SELECT ?, id, 'grant', ?, ?
  FROM accounts
  WHERE name = ? AND changes() = 1`;

async function createAccount(database: Database, name: string, now: number, credits = 0) {
  if (credits !== 0) assertCreditAmount(credits);
  const grantArgs = [Bun.randomUUIDv7(), credits, now, name];
  const { created } = await writeNamed(database, {
    created: { sql: INSERT_ACCOUNT, args: [name, now] },
    ...(credits === 0 ? {} : { grant: { sql: INSERT_FIRST_GRANT, args: grantArgs } }),
  });
  if (created.length === 0) {
    throw new DomainError("Conflict", `There is an account ${name} already`);
  }
  return getAccountByName(database, name);
}

async function listAccounts({ query }: Database, { first, last }: DayRange, name?: string) {
  const range = `BETWEEN ${first * 24} AND ${last * 24 + 23}`;
  // Of each account, it reads only the usage of these days: the primary key begins with both.
  const used = sql<number>`(
    SELECT ifnull(sum(credits - refunded), 0)
    FROM usage
    WHERE usage.account = accounts.id AND hour ${sql.raw(range)}
  ) + iif(${sql.raw(`${RECENT_HOUR} ${range}`)}, recent_credits, 0)`;
  // A batch is read by another thread: the usage of many accounts can take a while.
  const [rows] = await query((drizzle) =>
    drizzle.batch([
      drizzle
        .select({ ...COLUMNS, used })
        .from(accounts)
        .where(name === undefined ? undefined : eq(accounts.name, name))
        .orderBy(asc(accounts.name)),
    ]),
  );
  return rows;
}

async function findAccount({ query }: Database, isAccount: SQL) {
  const [account] = await query((drizzle) =>
    drizzle.select(COLUMNS).from(accounts).where(isAccount),
  );
  return account;
}

async function getAccountById(database: Database, id: number) {
  const account = await findAccount(database, eq(accounts.id, id));
  if (account === undefined) throw new Error(`There is no account ${id}`);
  return account;
}

export async function getAccountByName(database: Database, name: string) {
  const account = await findAccount(database, eq(accounts.name, name));
  if (account === undefined) throw createUnknownAccountError(name);
  return account;
}

// An attempt that runs may deliver its notice.
const WITHDRAW_NOTICES = `
  DELETE FROM notices
  WHERE account = (SELECT id FROM accounts WHERE name = ? AND low_balance IS NULL)
    AND due_at IS NOT NULL`;

/** Sets the threshold of notices about a low balance; `null` deletes those that are pending. */
async function setLowBalance(database: Database, name: string, lowBalance: number | null) {
  const update = "UPDATE accounts SET low_balance = ? WHERE name = ? RETURNING id";
  const { account } = await writeNamed(
    database,
    {
      account: { sql: update, args: [lowBalance, name] },
      withdrawn: { sql: WITHDRAW_NOTICES, args: [name] },
    },
    { idempotent: true },
  );
  if (account.length === 0) throw createUnknownAccountError(name);
}

const createUnknownAccountError = (name: string) =>
  addAdvice(new DomainError("Not Found", `There is no account ${name}`), "accounts list shows all");

const INSERT_GRANT = `
  INSERT INTO journal (uid, account, kind, amount, at, reference, reason)
  SELECT ?, id, 'grant', ?, ?, ?, ?
  FROM accounts
  WHERE id = ? AND granted + ? <= ?
  ON CONFLICT DO NOTHING`;

const SELECT_GRANT = `
  SELECT uid, amount
  FROM journal
  WHERE account = ? AND (uid = ? OR reference = ?)`;

async function grantCredits(
  database: Database,
  grant: Parameters<CreditStore["grant"]>[0],
  now: number,
): ReturnType<CreditStore["grant"]> {
  const { id: uid, amount, reference = null, reason = null } = grant;
  assertCreditAmount(amount);
  const { id } = await getAccountByName(database, grant.account);
  const {
    account: [sums],
    grants: [stored],
  } = await writeNamed(
    database,
    {
      insertGrant: {
        sql: INSERT_GRANT,
        args: [uid, amount, now, reference, reason, id, amount, INTEGER_MAX],
      },
      account: { sql: "SELECT granted, balance FROM accounts WHERE id = ?", args: [id] },
      grants: { sql: SELECT_GRANT, args: [id, uid, reference] },
    },
    { idempotent: true },
  );
  if (stored === undefined)
    throw createSumTooLargeError("granted", Number(sums?.["granted"]), amount);
  const isNew = stored["uid"] === uid;
  const before = Number(stored["amount"]);
  if (before === amount) return { isNew, balance: Number(sums?.["balance"]) };
  throw isNew
    ? new DomainError("Conflict", `Grant ${uid} was of ${before}, it cannot be of ${amount}`)
    : createReferenceConflictError(String(reference), before, amount);
}
