/** A connection to a database file, which keeps its prepared statements. */
import type { Row } from "@libsql/client";
import Driver from "libsql";
import { readSystemErrorCode } from "../../system-errors.ts";
import type { Statement, StatementResult } from "./database.ts";

/** The result of a statement, in a form that can be sent between threads. */
export interface RawResult extends Pick<StatementResult, "rowsAffected"> {
  readonly columns: string[];
  readonly rows: Row[0][][];
}

const CACHED_STATEMENTS_MAX = 200;

export type SqliteConnection = ReturnType<typeof openConnection>;

/**
 * Opens a connection to a file; one that writes uses WAL mode. Close it after a call failed with
 * {@link isLocked}: on such a connection the driver acknowledges writes that it never stores
 * (tursodatabase/libsql-client-ts#352).
 */
export function openConnection(
  path: string,
  options: { readonly lockTimeoutMs: number; readonly isReadonly?: boolean },
) {
  const driver = new Driver(path, { timeout: options.lockTimeoutMs });
  driver.pragma(options.isReadonly ? "query_only = ON" : "journal_mode = WAL");
  // A commit never checkpoints: `checkpoint()` does, in a time of its own.
  driver.pragma("wal_autocheckpoint = 0");
  /** A statement that only writes has no columns. */
  const statementCache = new Map<string, { statement: Driver.Statement; columns: string[] }>();
  let wasSynced: boolean | undefined;

  function prepare(sql: string) {
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

  function run({ sql, args }: Statement): RawResult {
    const { statement, columns } = prepare(sql);
    return columns.length === 0
      ? { columns, rows: [], rowsAffected: statement.run(args).changes }
      : { columns, rows: statement.all(args) as RawResult["rows"], rowsAffected: 0 };
  }

  return {
    query: run,
    /** Parses the JSON in the first row of a query; the fastest read if there is only one. */
    queryJson(sql: string, args: readonly (string | number | null)[]) {
      const row = prepare(sql).statement.get([...args]) as Row[0][] | undefined;
      return row === undefined ? undefined : JSON.parse(String(row[0]));
    },
    /** Runs queries in one transaction, so that all see the same state. */
    read(statements: readonly Statement[]): RawResult[] {
      driver.exec("BEGIN");
      try {
        return statements.map(run);
      } finally {
        driver.exec("COMMIT");
      }
    },
    /** Runs statements as one transaction; if `isSynced`, the commit is on the disk after it. */
    write(statements: readonly Statement[], { isSynced }: { isSynced: boolean }): RawResult[] {
      if (wasSynced !== isSynced) {
        driver.exec(`PRAGMA synchronous = ${isSynced ? "FULL" : "NORMAL"}`);
        wasSynced = isSynced;
      }
      const [only] = statements;
      // A statement alone is a transaction, in a tenth less time. All its rows must be read: the
      // step behind the last row commits, and `get()` would never report that the disk is full.
      if (only !== undefined && statements.length === 1) return [run(only)];
      prepare("BEGIN IMMEDIATE").statement.run();
      try {
        const results = statements.map(run);
        prepare("COMMIT").statement.run();
        return results;
      } catch (error) {
        if (driver.inTransaction) driver.exec("ROLLBACK");
        throw error;
      }
    },
    /** Copies the database to a new file. Throws if it is corrupt, as the copy would be. */
    copyTo(target: string): void {
      assertNotCorrupt(driver);
      driver.prepare("VACUUM INTO ?").run([target]);
    },
    /** Moves pages from the write-ahead log into the file, as far as other connections allow it. */
    checkpoint: (mode: "PASSIVE" | "TRUNCATE") => void driver.pragma(`wal_checkpoint(${mode})`),
    close(): void {
      statementCache.clear();
      driver.close();
    },
  };
}

/** Reads the version of SQLite that the driver has. */
export function readSqliteVersion(): string {
  const driver = new Driver(":memory:");
  const [version] = driver.prepare("SELECT sqlite_version()").raw(true).get([]) as [string];
  driver.close();
  return version;
}

function assertNotCorrupt(driver: Driver.Database): void {
  const [verdict] = driver.prepare("PRAGMA integrity_check(1)").raw(true).get([]) as [string];
  if (verdict === "ok") return;
  const error = new Error(`the database is damaged: ${verdict.split("\n").at(-1)}`);
  throw Object.assign(error, { code: "SQLITE_CORRUPT" });
}

/** Whether an error says that another connection holds the lock. */
export const isLocked = (error: unknown) =>
  /^SQLITE_(?:BUSY|LOCKED)/.test(readSystemErrorCode(error));

type RowClass = new (values: readonly Row[0][]) => Row;

const rowClasses = new WeakMap<readonly string[], RowClass>();

export function toResult({ columns, rows, rowsAffected }: RawResult): StatementResult {
  if (rows.length === 0) return { rows: [], rowsAffected };
  const ResultRow = rowClasses.getOrInsertComputed(columns, createRowClass);
  return { rows: rows.map((values) => new ResultRow(values)), rowsAffected };
}

/** Creates the class of rows whose values are read by name and, by Drizzle, by position. */
function createRowClass(columns: readonly string[]): RowClass {
  class ResultRow {
    [column: string]: Row[0];
    constructor(values: readonly Row[0][]) {
      columns.forEach((column, index) => (this[column] = values[index] ?? null));
    }
  }
  for (const [index, column] of columns.entries()) {
    const get = function get(this: ResultRow) {
      return this[column];
    };
    Object.defineProperty(ResultRow.prototype, index, { get });
  }
  Object.defineProperty(ResultRow.prototype, "length", { value: columns.length });
  return ResultRow as unknown as RowClass;
}
