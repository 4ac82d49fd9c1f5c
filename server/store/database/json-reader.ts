/**
 * The fastest reads of a file: one statement makes one JSON text of all that an answer needs.
 *
 * Statements are kept, and a statement makes one row: so nothing of it stays open when it is read.
 */
import Driver from "libsql";
import { mapTransientErrors } from "./errors.ts";

/** Kept statements at most. */
const CACHED_STATEMENTS_MAX = 100;

/**
 * Opens a file that is there for such reads.
 *
 * @param lockTimeoutMs How long a read waits for a lock that another process holds.
 */
export function openJsonReader(path: string, lockTimeoutMs: number) {
  const statements = new Map<string, Driver.Statement>();
  let driver: Driver.Database | undefined;

  function prepare(sql: string): Driver.Statement {
    driver ??= openReadOnlyConnection(path, lockTimeoutMs);
    const cached = statements.get(sql);
    if (cached !== undefined) return cached;
    if (statements.size >= CACHED_STATEMENTS_MAX) statements.clear();
    const statement = driver.prepare(sql).raw(true);
    statements.set(sql, statement);
    return statement;
  }

  function close(): void {
    statements.clear();
    driver?.close();
    driver = undefined;
  }

  return {
    /** The value that a statement's JSON text says; `undefined` where it has no row. */
    read: <Value>(sql: string, args: readonly (string | number)[]): Promise<Value | undefined> =>
      mapTransientErrors(async () => {
        try {
          const row = prepare(sql).get([...args]) as [string] | undefined;
          return row === undefined ? undefined : JSON.parse(row[0]);
        } catch (error) {
          close();
          throw error;
        }
      }),
    close,
  };
}

function openReadOnlyConnection(path: string, lockTimeoutMs: number): Driver.Database {
  const driver = new Driver(path, { timeout: lockTimeoutMs });
  driver.pragma("query_only = ON");
  return driver;
}
