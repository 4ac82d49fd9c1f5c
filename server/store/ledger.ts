/**
 * The credit ledger in the database. Every change of a balance is one transaction that writes the
 * journal first and then, only where that wrote, the account's sums.
 *
 * Every write carries an identifier made before it (`uid`): one that is tried again, because its
 * answer was lost, is applied once.
 */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { checkAmount, grantTooLarge, referenceConflict, type Charge } from "../../core/credits.ts";
import { DomainError } from "../../core/errors.ts";
import type { DayRange } from "../../core/usage.ts";
import { MAX_WHOLE } from "../../core/limits.ts";
import type { Database } from "./database.ts";
import { withOwnErrors } from "./guard.ts";
import { commitDebits, type Debit, type DebitGroup } from "./debits.ts";
import { refundDebit, withdrawDebits } from "./refunds.ts";
import { accounts, journal } from "./account-tables.ts";
import { readUsage } from "./usage.ts";

/** A grant of credits to an account. */
export interface Grant {
  readonly uid: string;
  readonly account: string;
  readonly amount: number;
  readonly reference?: string | undefined;
  readonly reason?: string | undefined;
}

/** The ledger. */
export type LedgerStore = ReturnType<typeof ledgerStore>;

/** The ledger of a database; `now` is in milliseconds since 1970 UTC. */
export function ledgerStore(database: Database) {
  const store = withOwnErrors({
    /** @throws {DomainError} `Conflict` when the name is taken. */
    createAccount: (name: string, now: number) => createAccount(database, name, now),

    /** All accounts, by name. */
    accounts: () => database.query.select().from(accounts).orderBy(asc(accounts.name)),

    /** The account of a key that was accepted. */
    accountOf: (id: number) => accountOf(database, id),

    /** @throws {DomainError} `Not Found` when there is no such account. */
    account: (name: string) => findAccount(database, name),

    /**
     * Grants credits. A reference of an account grants once.
     *
     * @throws {DomainError} `Not Found`, `Conflict`, `Invalid Request`.
     */
    grant: (grant: Grant, now: number) => grantCredits(database, grant, now),

    /** Decides waiting debits, in their order, and commits those that the balances cover. */
    debit: (waiting: readonly Charge[], group: DebitGroup) =>
      commitDebits(database, waiting, group),

    /** Gives a debit back, once. */
    refund: (debit: Debit, uid: string, reason: string, now: number) =>
      refundDebit(database, debit, uid, reason, now),

    /** Sees to it that a group whose commit failed without an answer takes nothing. */
    withdraw: (waiting: readonly Charge[], uid: string, now: number) =>
      withdrawDebits(database, waiting, uid, now),

    /** What an account used, by day. */
    usage: (account: number, days: DayRange) => readUsage(database, account, days),

    /** A part of an account's journal, oldest first, with the balance after each entry. */
    statement: (name: string, after: number, limit: number) =>
      readStatement(database, name, after, limit),
  });
  return { ...store, leftNothing: database.leftNothing };
}

async function createAccount(database: Database, name: string, now: number) {
  const [created] = await database.query
    .insert(accounts)
    .values({ name, createdAt: now })
    .onConflictDoNothing()
    .returning();
  if (created === undefined) {
    throw new DomainError("Conflict", `There is an account ${name} already`);
  }
  return created;
}

async function accountOf({ query }: Database, id: number) {
  const [account] = await query.select().from(accounts).where(eq(accounts.id, id));
  if (account === undefined) throw new Error(`There is no account ${id}`);
  return account;
}

async function findAccount({ query }: Database, name: string) {
  const [account] = await query.select().from(accounts).where(eq(accounts.name, name));
  if (account === undefined) throw new DomainError("Not Found", `There is no account ${name}`);
  return account;
}

/** What a grant did: `isNew` is false where its reference had granted before. */
export interface Granted {
  readonly isNew: boolean;
  readonly balance: number;
}

async function grantCredits(database: Database, grant: Grant, now: number): Promise<Granted> {
  const { uid, amount, reference = null, reason = null } = grant;
  checkAmount(amount);
  const account = await findAccount(database, grant.account);
  const [, , after, referred] = await database.write(
    [
      {
        sql:
          "INSERT INTO journal (uid, account, kind, amount, at, reference, reason) " +
          "SELECT ?, id, 'grant', ?, ?, ?, ? FROM accounts " +
          "WHERE id = ? AND granted + ? <= ? ON CONFLICT DO NOTHING",
        args: [uid, amount, now, reference, reason, account.id, amount, MAX_WHOLE],
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
    { isRepeatable: true },
  );
  const balance = Number(after?.rows[0]?.["balance"]);
  const found = referred?.rows[0];
  const before = found?.["amount"];
  if (before === undefined) throw grantTooLarge(Number(after?.rows[0]?.["granted"]), amount);
  if (before !== amount) throw referenceConflict(String(reference), Number(before), amount);
  return { isNew: found?.["uid"] === uid, balance };
}

async function readStatement(database: Database, name: string, after: number, limit: number) {
  const account = await findAccount(database, name);
  const signed = sql`CASE ${journal.kind} WHEN 'debit' THEN -${journal.amount} ELSE ${journal.amount} END`;
  const { query } = database;
  const [[before], rows] = await query.batch([
    query
      .select({ balance: sql<number>`ifnull(sum(${signed}), 0)` })
      .from(journal)
      .where(and(eq(journal.account, account.id), sql`${journal.entry} <= ${after}`)),
    query
      .select()
      .from(journal)
      .where(and(eq(journal.account, account.id), gt(journal.entry, after)))
      .orderBy(asc(journal.entry))
      .limit(limit),
  ]);
  let balance = before?.balance ?? 0;
  return rows.map(({ entry, kind, amount, at, reference, reason, debit }) => {
    balance += kind === "debit" ? -amount : amount;
    return { entry, at, kind, amount, balance, reference, reason, debit };
  });
}
