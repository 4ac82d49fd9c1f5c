/**
 * A connection that writes a file, with the client's own driver, whose statements can be kept.
 *
 * A transaction takes its lock at once. A connection that could not have it is to be closed,
 * because the driver acknowledges writes on such a connection that it never stores.
 */
import type { InValue, Row } from "@libsql/client";
import Driver from "libsql";
import { systemCodeOf } from "../../core/errors.ts";

/** A statement and its arguments, in order. */
export interface Statement {
  readonly sql: string;
  readonly args: InValue[];
}

/** What a statement did, as it crosses from thread to thread. */
export interface Written {
  readonly columns: string[];
  readonly rows: Row[0][][];
  /** Rows that were changed; 0 of a statement that gives rows. */
  readonly rowsAffected: number;
}

/** A connection that writes, or reads for long. */
export interface Connection {
  /**
   * Writes statements as one transaction: all or none.
   *
   * @param isSynced Whether the commit is on the disk when this returns.
   */
  write(statements: readonly Statement[], isSynced: boolean): Written[];
  /** Reads at one instant. */
  read(statements: readonly Statement[]): Written[];
  /** Copies the database, unless it is damaged: a copy would be too, and pass for a good one. */
  copyTo(target: string): void;
  /** Brings what is in the log into the file itself, as far as nobody reads or writes it. */
  checkpoint(how: "PASSIVE" | "TRUNCATE"): void;
  close(): void;
}

interface Prepared {
  readonly statement: Driver.Statement;
  /** Those of what it reads; none of what only writes. */
  readonly columns: string[];
}

/** Kept statements at most. */
const STATEMENTS_MAX = 200;

/**
 * Connects to a file.
 *
 * @param lockTimeoutMs How long a transaction waits for the lock that another holds.
 */
export function connect(path: string, lockTimeoutMs: number): Connection {
  const driver = new Driver(path, { timeout: lockTimeoutMs });
  driver.pragma("journal_mode = WAL");
  const kept = new Map<string, Prepared>();
  let wasSynced: boolean | undefined;

  function prepare(sql: string): Prepared {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    if (kept.size >= STATEMENTS_MAX) kept.clear();
    const statement = driver.prepare(sql);
    const prepared = statement.reader
      ? { statement: statement.raw(true), columns: statement.columns().map(({ name }) => name) }
      : { statement, columns: [] };
    kept.set(sql, prepared);
    return prepared;
  }

  function run({ sql, args }: Statement): Written {
    const { statement, columns } = prepare(sql);
    if (columns.length === 0) {
      return { columns, rows: [], rowsAffected: statement.run(args).changes };
    }
    return { columns, rows: statement.all(args) as Written["rows"], rowsAffected: 0 };
  }

  return {
    write(statements, isSynced) {
      if (wasSynced !== isSynced) {
        driver.exec(`PRAGMA synchronous = ${isSynced ? "FULL" : "NORMAL"}`);
        wasSynced = isSynced;
      }
      run(BEGIN);
      try {
        const written = statements.map(run);
        run(COMMIT);
        return written;
      } catch (error) {
        if (driver.inTransaction) driver.exec("ROLLBACK");
        throw error;
      }
    },
    read(statements) {
      driver.exec("BEGIN");
      try {
        return statements.map(run);
      } finally {
        driver.exec("COMMIT");
      }
    },
    copyTo(target) {
      requireSound(driver);
      driver.prepare("VACUUM INTO ?").run([target]);
    },
    checkpoint: (how) => void driver.pragma(`wal_checkpoint(${how})`),
    close() {
      kept.clear();
      driver.close();
    },
  };
}

/** A copy takes over what is damaged without a word. */
function requireSound(driver: Driver.Database): void {
  const [found] = driver.prepare("PRAGMA quick_check(1)").raw(true).get([]) as [string];
  if (found === "ok") return;
  const message = `the database is damaged: ${found.split("\n").at(-1)}`;
  throw Object.assign(new Error(message), { code: "SQLITE_CORRUPT" });
}

const BEGIN: Statement = { sql: "BEGIN IMMEDIATE", args: [] };
const COMMIT: Statement = { sql: "COMMIT", args: [] };

/** Whether an error says that another holds the lock. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test(systemCodeOf(error));
}
