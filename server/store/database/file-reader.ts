/** Reads a database file in the thread that serves requests. */
import type { ResultSet } from "@libsql/client";
import type { Statement } from "./database.ts";
import { mapTransientErrors } from "./errors.ts";
import { openConnection, toResultSet, type SqliteConnection } from "./sqlite-connection.ts";

/**
 * Creates a reader of an existing file. It opens the file at the first read, and again after an
 * error.
 *
 * @param lockTimeoutMs How long a read waits for a lock that another process holds.
 */
export function openFileReader(path: string, lockTimeoutMs: number) {
  let connection: SqliteConnection | undefined;

  function close(): void {
    connection?.close();
    connection = undefined;
  }

  /** Reads with an open connection. After an error the next read gets a new one. */
  const read = <Result>(work: (connection: SqliteConnection) => Result): Promise<Result> =>
    mapTransientErrors(async () => {
      try {
        connection ??= openConnection(path, { lockTimeoutMs, readonly: true });
        return work(connection);
      } catch (error) {
        close();
        throw error;
      }
    });

  return {
    query: (statement: Statement): Promise<ResultSet> =>
      read((open) => toResultSet(open.query(statement))),

    /** The JSON text in the first column of the first row, parsed. */
    queryJson: <Value>(
      sql: string,
      args: readonly (string | number)[],
    ): Promise<Value | undefined> =>
      read((open) => {
        const row = open.queryFirst({ sql, args: [...args] });
        return row === undefined ? undefined : JSON.parse(String(row[0]));
      }),

    close,
  };
}
