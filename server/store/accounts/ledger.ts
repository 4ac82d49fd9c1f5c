/**
 * The credit ledger in the database. Every change of a balance is one transaction that writes the
 * journal first and then, only where that wrote, the account's sums.
 *
 * Every write carries an identifier made before it (`uid`): one that is tried again, because its
 * answer was lost, is applied once.
 */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import {
  assertCreditAmount,
  grantTooLargeError,
  referenceConflictError,
} from "../../../core/ledger.ts";
import { DomainError } from "../../../core/errors.ts";
import { MAX_INTEGER } from "../../../core/limits.ts";
import type { Database } from "../database/database.ts";
import { commitDebits } from "./debits.ts";
import type {
  AccountLedger,
  AccountReads,
  Debit,
  DebitBatch,
  DebitLedger,
  Grant,
  GrantResult,
  Charge,
  DayRange,
} from "../../ports/ledger.ts";
import { refundDebit, cancelDebits } from "./refunds.ts";
import { accounts, journal } from "../tables/account-tables.ts";
import { readUsage } from "./usage.ts";

/** The ledger. */
export type LedgerStore = ReturnType<typeof createLedgerStore>;

/** The ledger of a database; `now` is in milliseconds since 1970 UTC. */
export function createLedgerStore(database: Database) {
  return {
    /** @throws {DomainError} `Conflict` when the name is taken. */
    createAccount: (name: string, now: number) => createAccount(database, name, now),

    /** All accounts, by name. */
    accounts: () =>
      database.query((drizzle) => drizzle.select().from(accounts).orderBy(asc(accounts.name))),

    /** The account of a key that was accepted. */
    accountOf: (id: number) => getAccountById(database, id),

    /** @throws {DomainError} `Not Found` when there is no such account. */
    account: (name: string) => getAccountByName(database, name),

    /**
     * Grants credits. A reference of an account grants once.
     *
     * @throws {DomainError} `Not Found`, `Conflict`, `Invalid Request`.
     */
    grant: (grant: Grant, now: number) => grantCredits(database, grant, now),

    /** Decides waiting debits, in their order, and commits those that the balances cover. */
    debit: (waiting: readonly Charge[], group: DebitBatch) =>
      commitDebits(database, waiting, group),

    /** Gives a debit back, once. */
    refund: (debit: Debit, uid: string, reason: string, now: number) =>
      refundDebit(database, debit, uid, reason, now),

    /** Sees to it that a group whose commit failed without an answer takes nothing. */
    cancel: (waiting: readonly Charge[], uid: string, now: number) =>
      cancelDebits(database, waiting, uid, now),

    /** What an account used, by day. */
    usage: (account: number, days: DayRange) => readUsage(database, account, days),

    /** A part of an account's journal, oldest first, with the balance after each entry. */
    statement: (name: string, after: number, limit: number) =>
      readStatement(database, name, after, limit),

    isRolledBack: database.isRolledBack,
  } satisfies DebitLedger & AccountLedger & AccountReads;
}

async function createAccount(database: Database, name: string, now: number) {
  const [created] = await database.query((drizzle) =>
    drizzle.insert(accounts).values({ name, createdAt: now }).onConflictDoNothing().returning(),
  );
  if (created === undefined) {
    throw new DomainError("Conflict", `There is an account ${name} already`);
  }
  return created;
}

async function getAccountById({ query }: Database, id: number) {
  const [account] = await query((drizzle) =>
    drizzle.select().from(accounts).where(eq(accounts.id, id)),
  );
  if (account === undefined) throw new Error(`There is no account ${id}`);
  return account;
}

async function getAccountByName({ query }: Database, name: string) {
  const [account] = await query((drizzle) =>
    drizzle.select().from(accounts).where(eq(accounts.name, name)),
  );
  if (account === undefined) throw new DomainError("Not Found", `There is no account ${name}`);
  return account;
}

async function grantCredits(database: Database, grant: Grant, now: number): Promise<GrantResult> {
  const { uid, amount, reference = null, reason = null } = grant;
  assertCreditAmount(amount);
  const account = await getAccountByName(database, grant.account);
  const [, , updated, matching] = await database.write(
    [
      {
        sql:
          "INSERT INTO journal (uid, account, kind, amount, at, reference, reason) " +
          "SELECT ?, id, 'grant', ?, ?, ?, ? FROM accounts " +
          "WHERE id = ? AND granted + ? <= ? ON CONFLICT DO NOTHING",
        args: [uid, amount, now, reference, reason, account.id, amount, MAX_INTEGER],
      },
      {
        sql:
          "UPDATE accounts SET granted = granted + ?, balance = balance + ? " +
          "WHERE id = ? AND changes() = 1",
        args: [amount, amount, account.id],
      },
      { sql: "SELECT granted, balance FROM accounts WHERE id = ?", args: [account.id] },
      {
        sql: "SELECT uid, amount FROM journal WHERE account = ? AND (uid = ? OR reference = ?)",
        args: [account.id, uid, reference],
      },
    ],
    { idempotent: true },
  );
  const balance = Number(updated?.rows[0]?.["balance"]);
  const entry = matching?.rows[0];
  const grantedAmount = entry?.["amount"];
  if (grantedAmount === undefined)
    throw grantTooLargeError(Number(updated?.rows[0]?.["granted"]), amount);
  if (grantedAmount !== amount)
    throw referenceConflictError(String(reference), Number(grantedAmount), amount);
  return { isNew: entry?.["uid"] === uid, balance };
}

async function readStatement(database: Database, name: string, after: number, limit: number) {
  const account = await getAccountByName(database, name);
  const signedAmount = sql`CASE ${journal.kind} WHEN 'debit' THEN -${journal.amount} ELSE ${journal.amount} END`;
  const [[opening], rows] = await database.query((drizzle) =>
    drizzle.batch([
      drizzle
        .select({ balance: sql<number>`ifnull(sum(${signedAmount}), 0)` })
        .from(journal)
        .where(and(eq(journal.account, account.id), sql`${journal.entry} <= ${after}`)),
      drizzle
        .select()
        .from(journal)
        .where(and(eq(journal.account, account.id), gt(journal.entry, after)))
        .orderBy(asc(journal.entry))
        .limit(limit),
    ]),
  );
  let balance = opening?.balance ?? 0;
  return rows.map(({ entry, kind, amount, at, reference, reason, debit }) => {
    balance += kind === "debit" ? -amount : amount;
    return { entry, at, kind, amount, balance, reference, reason, debit };
  });
}
