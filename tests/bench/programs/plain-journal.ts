/**
 * A table with the columns of a debit and of a refund, without triggers, checks and other indexes,
 * which the `libsql` driver writes: the least that a stored group of debits can cost.
 */
import Driver from "libsql";

/** A debit of requests of one account, key and endpoint. */
export interface PlainDebit {
  readonly account: number;
  readonly amount: number;
  readonly at: number;
  readonly requests: number;
  readonly key: number;
  readonly endpoint: string;
}

/** Creates the table in a new file, and returns a function that commits a row without a sync. */
export function openPlainJournal(file: string): (debit: PlainDebit) => void {
  const driver = new Driver(file);
  driver.pragma("journal_mode = WAL");
  driver.pragma("synchronous = NORMAL");
  driver.exec(`
    CREATE TABLE journal (
      uid TEXT NOT NULL,
      account INTEGER NOT NULL,
      run INTEGER NOT NULL DEFAULT 0,
      refund INTEGER NOT NULL DEFAULT 0,
      kind TEXT NOT NULL,
      amount INTEGER NOT NULL,
      at INTEGER NOT NULL,
      requests INTEGER,
      key INTEGER,
      endpoint TEXT,
      reference TEXT,
      reason TEXT,
      PRIMARY KEY (uid, account, run, refund)
    ) WITHOUT ROWID`);
  const insert = driver.prepare(`
    INSERT INTO journal (uid, account, kind, amount, at, requests, key, endpoint)
    VALUES (?, ?, 'debit', ?, ?, ?, ?, ?)`);
  return ({ account, amount, at, requests, key, endpoint }) =>
    void insert.run([Bun.randomUUIDv7(), account, amount, at, requests, key, endpoint]);
}
