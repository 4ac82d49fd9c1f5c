/**
 * The program that reads, changes and copies the database files of a backup in the making, and
 * checks finished ones. It is a
 * process of its own: in a thread, the driver can leave a deleted file open, whose space on the
 * disk is free only at the end of the process.
 */
import { Database, constants } from "bun:sqlite";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { readSystemErrorCode } from "../../../system-errors.ts";
import type { Statement } from "../database.ts";
import { openConnection, type RawResult } from "../sqlite-connection.ts";

/** The argument of the program, as JSON. */
export interface ScratchRequest {
  readonly file: string;
  /** Run as one transaction, before the copy. */
  readonly statements: readonly Statement[];
  /** The file that becomes a copy of the database, if it is intact. */
  readonly target?: string;
  /** The statements only read, and the file stays as it is, to the byte; there is no target. */
  readonly isReadonly?: boolean;
}

/** The standard output of the program, as JSON. */
export type ScratchResponse =
  | { readonly results: RawResult[] }
  | { readonly error: { readonly message: string; readonly code: string } };

process.stdout.write(JSON.stringify(handleRequest(JSON.parse(process.argv[2] ?? ""))));

function handleRequest({
  file,
  statements,
  target,
  isReadonly = false,
}: ScratchRequest): ScratchResponse {
  try {
    if (isReadonly) return { results: readStatements(file, statements) };
    const connection = openConnection(file, { lockTimeoutMs: 0 });
    const results = connection.write(statements, { isSynced: false });
    if (target !== undefined) connection.copyTo(target);
    connection.close();
    return { results };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { message, code: readSystemErrorCode(error) } };
  }
}

/** Reads with Bun's SQLite, which can open a file so that nothing changes it. */
function readStatements(file: string, statements: readonly Statement[]): RawResult[] {
  const url = pathToFileURL(file);
  // Without a write-ahead log, SQLite would make an empty one in any folder that it can write.
  const hasLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!hasLog) url.searchParams.set("immutable", "1");
  const database = new Database(
    url.href,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  );
  try {
    return statements.map(({ sql, args }) => {
      const statement = database.query<unknown, (string | number | null)[]>(sql);
      const rows = statement.values(...(args as (string | number | null)[]));
      return { columns: statement.columnNames, rows: rows as RawResult["rows"], rowsAffected: 0 };
    });
  } finally {
    database.close();
  }
}
