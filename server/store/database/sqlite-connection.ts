/**
 * A connection that writes a file, with the client's own driver, whose statements can be kept.
 *
 * A transaction takes its lock at once. A connection that could not have it is to be closed,
 * because the driver acknowledges writes on such a connection that it never stores.
 */
import type { InValue, Row } from "@libsql/client";
import Driver from "libsql";
import { readSystemErrorCode } from "../../system-errors.ts";

/** A statement and its arguments, in order. */
export interface Statement {
  readonly sql: string;
  readonly args: InValue[];
}

/** What a statement did, as it crosses from thread to thread. */
export interface StatementResult {
  readonly columns: string[];
  readonly rows: Row[0][][];
  /** Rows that were changed; 0 of a statement that gives rows. */
  readonly rowsAffected: number;
}

/** A connection that writes, or reads for long. */
export interface SqliteConnection {
  /**
   * Writes statements as one transaction: all or none.
   *
   * @param isSynced Whether the commit is on the disk when this returns.
   */
  write(statements: readonly Statement[], isSynced: boolean): StatementResult[];
  /** Reads at one instant. */
  read(statements: readonly Statement[]): StatementResult[];
  /** Copies the database, unless it is damaged: a copy would be too, and pass for a good one. */
  copyTo(target: string): void;
  /** Brings what is in the log into the file itself, as far as nobody reads or writes it. */
  checkpoint(how: "PASSIVE" | "TRUNCATE"): void;
  close(): void;
}

interface PreparedStatement {
  readonly statement: Driver.Statement;
  /** Those of what it reads; none of what only writes. */
  readonly columns: string[];
}

/** Kept statements at most. */
const CACHED_STATEMENTS_MAX = 200;

/**
 * Connects to a file.
 *
 * @param lockTimeoutMs How long a transaction waits for the lock that another holds.
 */
export function openConnection(path: string, lockTimeoutMs: number): SqliteConnection {
  const driver = new Driver(path, { timeout: lockTimeoutMs });
  driver.pragma("journal_mode = WAL");
  const statementCache = new Map<string, PreparedStatement>();
  let wasSynced: boolean | undefined;

  function prepare(sql: string): PreparedStatement {
    const cached = statementCache.get(sql);
    if (cached !== undefined) return cached;
    if (statementCache.size >= CACHED_STATEMENTS_MAX) statementCache.clear();
    const statement = driver.prepare(sql);
    const prepared = statement.reader
      ? { statement: statement.raw(true), columns: statement.columns().map(({ name }) => name) }
      : { statement, columns: [] };
    statementCache.set(sql, prepared);
    return prepared;
  }

  function run({ sql, args }: Statement): StatementResult {
    const { statement, columns } = prepare(sql);
    if (columns.length === 0) {
      return { columns, rows: [], rowsAffected: statement.run(args).changes };
    }
    return { columns, rows: statement.all(args) as StatementResult["rows"], rowsAffected: 0 };
  }

  return {
    write(statements, isSynced) {
      if (wasSynced !== isSynced) {
        driver.exec(`PRAGMA synchronous = ${isSynced ? "FULL" : "NORMAL"}`);
        wasSynced = isSynced;
      }
      run(BEGIN_IMMEDIATE);
      try {
        const results = statements.map(run);
        run(COMMIT);
        return results;
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
      assertNotCorrupt(driver);
      driver.prepare("VACUUM INTO ?").run([target]);
    },
    checkpoint: (how) => void driver.pragma(`wal_checkpoint(${how})`),
    close() {
      statementCache.clear();
      driver.close();
    },
  };
}

/** A copy takes over what is damaged without a word. */
function assertNotCorrupt(driver: Driver.Database): void {
  const [verdict] = driver.prepare("PRAGMA quick_check(1)").raw(true).get([]) as [string];
  if (verdict === "ok") return;
  const message = `the database is damaged: ${verdict.split("\n").at(-1)}`;
  throw Object.assign(new Error(message), { code: "SQLITE_CORRUPT" });
}

const BEGIN_IMMEDIATE: Statement = { sql: "BEGIN IMMEDIATE", args: [] };
const COMMIT: Statement = { sql: "COMMIT", args: [] };

/** Whether an error says that another holds the lock. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test(readSystemErrorCode(error));
}
