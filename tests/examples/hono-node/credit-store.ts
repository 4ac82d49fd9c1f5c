/** A store of accounts and credits in SQLite, with the module that Node has. */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import {
  applyEntry,
  computeBalance,
  PAYMENT_TTL_MS,
  decideCharge,
  DomainError,
  EMPTY_LEDGER,
  type CreditCharge,
  type CreditAccount,
  type CreditStore,
  type DebitOutcome,
} from "@creator-metrics/core";

const TABLES = `
  CREATE TABLE IF NOT EXISTS accounts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
    granted INTEGER NOT NULL DEFAULT 0, debited INTEGER NOT NULL DEFAULT 0,
    refunded INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS grants (account INTEGER, reference TEXT, amount INTEGER NOT NULL,
    PRIMARY KEY (account, reference));
  CREATE TABLE IF NOT EXISTS debits (id INTEGER PRIMARY KEY, account INTEGER NOT NULL,
    cost INTEGER NOT NULL, is_refunded INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS payments (account INTEGER, idempotency_key TEXT,
    fingerprint TEXT NOT NULL, paid_at INTEGER NOT NULL, debit INTEGER NOT NULL,
    repeats INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, idempotency_key));
  CREATE TABLE IF NOT EXISTS batches (id TEXT PRIMARY KEY, outcomes TEXT NOT NULL);
`;

/** @param file The path of the database, or `:memory:`. A debit is the number of its row. */
export function openCreditStore(file: string): CreditStore<number> & { close(): void } {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; ${TABLES}`);
  const get = (sql: string, ...values: (string | number)[]) => database.prepare(sql).get(...values);
  const run = (sql: string, ...values: (string | number)[]) => database.prepare(sql).run(...values);

  /** All that `work` changes is committed, or nothing. No other request runs meanwhile. */
  function transact<Result>(work: () => Result): Result {
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }

  function readAccount(name: string): AccountRow {
    const row = get("SELECT * FROM accounts WHERE name = ?", name);
    if (row === undefined) throw new DomainError("Not Found", `There is no account ${name}`);
    return toAccount(row);
  }

  function debit(
    { account: name, cost, idempotencyKey, hasWaited }: CreditCharge,
    now: number,
  ): DebitOutcome<number> {
    const account = get("SELECT * FROM accounts WHERE name = ?", name);
    if (account === undefined) return { kind: "refused", balance: 0 };
    const { id, balance } = toAccount(account);
    const { value = "", fingerprint = "" } = idempotencyKey ?? {};
    const where = "WHERE account = ? AND idempotency_key = ?";
    const select = `SELECT fingerprint, repeats FROM payments ${where} AND paid_at > ?`;
    const row = get(select, id, value, now - PAYMENT_TTL_MS);
    const payment = row && {
      fingerprint: String(row["fingerprint"]),
      repeats: Number(row["repeats"]),
    };
    const kind = decideCharge(balance, { cost, idempotencyKey, hasWaited }, payment);
    if (kind === "misused") return { kind };
    if (kind === "repeated" && hasWaited !== true) {
      run(`UPDATE payments SET repeats = repeats + 1 ${where}`, id, value);
    }
    if (kind !== "charged") return { kind, balance };
    run("UPDATE accounts SET debited = debited + ? WHERE id = ?", cost, id);
    const { lastInsertRowid } = run("INSERT INTO debits (account, cost) VALUES (?, ?)", id, cost);
    const number = Number(lastInsertRowid);
    if (idempotencyKey !== undefined) {
      run("REPLACE INTO payments VALUES (?, ?, ?, ?, ?, 0)", id, value, fingerprint, now, number);
    }
    return { kind, debit: number, balance: balance - cost };
  }

  return {
    async createAccount(name, now) {
      const insert = "INSERT INTO accounts (name, created_at) VALUES (?, ?)";
      const row = get(`${insert} ON CONFLICT DO NOTHING RETURNING *`, name, now);
      if (row === undefined) throw new DomainError("Conflict", `There is an account ${name}`);
      return toAccount(row);
    },
    account: async (name) => readAccount(name),
    grant: async ({ id: grant, account: name, amount, reference = grant }) =>
      transact(() => {
        const { id, granted, debited, refunded } = readAccount(name);
        const where = "WHERE account = ? AND reference = ?";
        const known = get(`SELECT amount FROM grants ${where}`, id, reference);
        const references = new Map(known && [[reference, Number(known["amount"])]]);
        // The ledger of core takes each reference once, and checks the amount.
        const ledger = { ...EMPTY_LEDGER, granted, debited, refunded, references };
        const next = applyEntry(ledger, { kind: "grant", amount, reference });
        if (next === ledger) return { isNew: false, balance: computeBalance(ledger) };
        run("INSERT INTO grants VALUES (?, ?, ?)", id, reference, amount);
        run("UPDATE accounts SET granted = ? WHERE id = ?", next.granted, id);
        return { isNew: true, balance: computeBalance(next) };
      }),
    debit: async (charges, { id, now }) =>
      transact(() => {
        const committed = get("SELECT outcomes FROM batches WHERE id = ?", id);
        if (committed !== undefined) return { outcomes: JSON.parse(String(committed["outcomes"])) };
        const outcomes = charges.map((charge) => debit(charge, now));
        run("INSERT INTO batches VALUES (?, ?)", id, JSON.stringify(outcomes));
        return { outcomes };
      }),
    refund: async (number) =>
      transact(() => {
        const update = "UPDATE debits SET is_refunded = 1 WHERE id = ? AND is_refunded = 0";
        const row = get(`${update} RETURNING account, cost`, number);
        if (row === undefined) return;
        const [cost, account] = [Number(row["cost"]), Number(row["account"])];
        run("UPDATE accounts SET refunded = refunded + ? WHERE id = ?", cost, account);
        run("DELETE FROM payments WHERE account = ? AND debit = ?", account, number);
      }),
    close: () => database.close(),
  };
}

interface AccountRow extends CreditAccount {
  readonly id: number;
}

function toAccount(row: Record<string, SQLOutputValue>): AccountRow {
  const [granted, debited, refunded] = [row["granted"], row["debited"], row["refunded"]].map(
    Number,
  );
  const sums = { granted: granted ?? 0, debited: debited ?? 0, refunded: refunded ?? 0 };
  const createdAt = Number(row["created_at"]);
  const [id, name] = [Number(row["id"]), String(row["name"])];
  return { id, name, createdAt, ...sums, balance: computeBalance(sums) };
}
