/**
 * The credit ledger in the database. Every change of a balance is one transaction that writes the
 * journal first and then, only where that wrote, the account's sums.
 *
 * Every write carries an identifier made before it (`uid`): one that is tried again, because its
 * answer was lost, is applied once.
 */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { checkAmount, grantTooLarge, referenceConflict } from "../../core/credits.ts";
import { DomainError } from "../../core/errors.ts";
import { MAX_WHOLE } from "../../core/limits.ts";
import type { Database } from "./database.ts";
import { withOwnErrors } from "./guard.ts";
import { accounts, journal } from "./tables.ts";

/** A request's debit that waits for its commit. */
export interface WaitingDebit {
  readonly account: number;
  /** In credits. */
  readonly cost: number;
}

/** A committed debit, as a refund names it. */
export interface Debit {
  readonly uid: string;
  readonly account: number;
  /** Its place in the entry, from 0. */
  readonly place: number;
  readonly cost: number;
}

/** What became of a debit. */
export type DebitOutcome =
  | { readonly isAccepted: true; readonly debit: Debit; readonly balance: number }
  | { readonly isAccepted: false; readonly balance: number };

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
  return withOwnErrors({
    /** @throws {DomainError} `Conflict` when the name is taken. */
    createAccount: (name: string, now: number) => createAccount(database, name, now),

    /** All accounts, by name. */
    accounts: () => database.query.select().from(accounts).orderBy(asc(accounts.name)),

    /** @throws {DomainError} `Not Found` when there is no such account. */
    account: (name: string) => findAccount(database, name),

    /**
     * Grants credits. A reference of an account grants once.
     *
     * @throws {DomainError} `Not Found`, `Conflict`, `Invalid Request`.
     */
    grant: (grant: Grant, now: number) => grantCredits(database, grant, now),

    /** Decides waiting debits, in their order, and commits those that the balances cover. */
    debit: (waiting: readonly WaitingDebit[], uid: string, now: number) =>
      commitDebits(database, waiting, uid, now),

    /** Gives a debit back, once. */
    refund: (debit: Debit, uid: string, reason: string, now: number) =>
      refundDebit(database, debit, uid, reason, now),

    /** A part of an account's journal, oldest first, with the balance after each entry. */
    statement: (name: string, after: number, limit: number) =>
      readStatement(database, name, after, limit),
  });
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
  const [, updated, after, referred] = await database.write([
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
      sql: "SELECT amount FROM journal WHERE account = ? AND (uid = ? OR reference = ?)",
      args: [account.id, uid, reference],
    },
  ]);
  const balance = Number(after?.rows[0]?.["balance"]);
  if (updated?.rowsAffected === 1) return { isNew: true, balance };
  const before = referred?.rows[0]?.["amount"];
  if (before === undefined) throw grantTooLarge(Number(after?.rows[0]?.["granted"]), amount);
  if (before !== amount) throw referenceConflict(String(reference), Number(before), amount);
  return { isNew: false, balance };
}

async function commitDebits(
  database: Database,
  waiting: readonly WaitingDebit[],
  uid: string,
  now: number,
): Promise<DebitOutcome[]> {
  const costs = JSON.stringify(waiting.map(({ account, cost }) => [account, cost]));
  const [, , decided] = await database.write(
    [
      {
        sql:
          "INSERT INTO journal (uid, account, kind, amount, at) " +
          "SELECT ?, account, 'debit', max(upto), ? FROM (SELECT value ->> 0 AS account, " +
          "sum(value ->> 1) OVER (PARTITION BY value ->> 0 ORDER BY key) AS upto " +
          "FROM json_each(?)) AS waiting JOIN accounts ON accounts.id = waiting.account " +
          "WHERE upto <= balance AND NOT EXISTS (SELECT 1 FROM journal WHERE uid = ?) " +
          "GROUP BY account",
        args: [uid, now, costs, uid],
      },
      {
        sql:
          "UPDATE accounts SET debited = debited + entry.amount, balance = balance - entry.amount " +
          "FROM journal AS entry WHERE entry.uid = ? AND entry.account = accounts.id " +
          "AND changes() > 0",
        args: [uid],
      },
      {
        sql:
          "SELECT accounts.id AS account, balance, ifnull(entry.amount, 0) AS amount FROM accounts " +
          "LEFT JOIN journal AS entry ON entry.uid = ? AND entry.account = accounts.id " +
          "WHERE accounts.id IN (SELECT value ->> 0 FROM json_each(?))",
        args: [uid, costs],
      },
    ],
    { isRelaxed: true },
  );
  const accepted = new Map(
    decided?.rows.map((row) => [
      Number(row["account"]),
      { balance: Number(row["balance"]), amount: Number(row["amount"]), upto: 0, place: 0 },
    ]),
  );
  return waiting.map(({ account, cost }) => {
    const of = accepted.get(account);
    if (of === undefined) return { isAccepted: false, balance: 0 };
    of.upto += cost;
    if (of.upto > of.amount) return { isAccepted: false, balance: of.balance };
    const debit = { uid, account, place: of.place++, cost };
    return { isAccepted: true, debit, balance: of.balance + of.amount - of.upto };
  });
}

async function refundDebit(
  database: Database,
  { uid: debit, account, place, cost }: Debit,
  uid: string,
  reason: string,
  now: number,
): Promise<void> {
  await database.write(
    [
      {
        sql:
          "INSERT INTO journal (uid, account, kind, amount, at, debit, place, reason) " +
          "SELECT ?, account, 'refund', ?, ?, uid, ?, ? FROM journal " +
          "WHERE uid = ? AND account = ? AND kind = 'debit' ON CONFLICT DO NOTHING",
        args: [uid, cost, now, place, reason, debit, account],
      },
      {
        sql:
          "UPDATE accounts SET refunded = refunded + ?, balance = balance + ? " +
          "WHERE id = ? AND changes() = 1",
        args: [cost, cost, account],
      },
    ],
    { isRelaxed: true },
  );
}

async function readStatement(database: Database, name: string, after: number, limit: number) {
  const account = await findAccount(database, name);
  const signed = sql`CASE ${journal.kind} WHEN 'debit' THEN -${journal.amount} ELSE ${journal.amount} END`;
  const [before] = await database.query
    .select({ balance: sql<number>`ifnull(sum(${signed}), 0)` })
    .from(journal)
    .where(and(eq(journal.account, account.id), sql`${journal.entry} <= ${after}`));
  const rows = await database.query
    .select()
    .from(journal)
    .where(and(eq(journal.account, account.id), gt(journal.entry, after)))
    .orderBy(asc(journal.entry))
    .limit(limit);
  let balance = before?.balance ?? 0;
  return rows.map(({ entry, kind, amount, at, reference, reason, debit }) => {
    balance += kind === "debit" ? -amount : amount;
    return { entry, at, kind, amount, balance, reference, reason, debit };
  });
}
