/**
 * Writes database files: what is short at once, all else in a thread of its own, of which a process
 * has one for all its files. It never holds the process up when nothing is being written.
 */
import { LibsqlError, type ResultSet, type Row } from "@libsql/client";
import type { Statement, StatementResult } from "./sqlite-connection.ts";
import { openInlineWriter } from "./inline-writer.ts";
import { createWorkerClient, WorkerError } from "./worker-rpc.ts";

/** A file that is open for writing. */
interface DatabaseFile {
  readonly id: number;
  readonly path: string;
  /** How long a write waits for a lock that another process holds. */
  readonly lockTimeoutMs: number;
}

/** What the thread is asked. */
export type WriterRequest = { readonly file: DatabaseFile } & WriterOperation;

type WriterOperation =
  | {
      readonly verb: "write";
      readonly statements: readonly Statement[];
      readonly isSynced: boolean;
    }
  | { readonly verb: "read"; readonly statements: readonly Statement[] }
  | { readonly verb: "copy"; readonly target: string }
  | { readonly verb: "checkpoint" | "close" };

/** How statements are written. */
export interface FileWriteOptions {
  /** Whether the commit survives a power cut, not only the death of the process. */
  readonly isSynced: boolean;
  /** Whether they take so little time that they may hold up the requests. */
  readonly isInline: boolean;
}

/** Writes a database file. */
export interface FileWriter {
  /** Writes statements as one transaction: all or none; in the order in which this is called. */
  write(statements: readonly Statement[], mode: FileWriteOptions): Promise<ResultSet[]>;
  /** Reads at one instant, for as long as it takes: it holds up neither requests nor writes. */
  readInBackground(statements: readonly Statement[]): Promise<ResultSet[]>;
  /** Copies the database, as it is at one instant, into a new file; it holds up nothing either. */
  copyTo(target: string): Promise<void>;
  close(): Promise<void>;
}

const callWriterWorker = createWorkerClient<WriterRequest, StatementResult[]>(
  new URL("writer-worker.ts", import.meta.url),
);
/** Another for what only reads, and long. */
const callReaderWorker = createWorkerClient<WriterRequest, StatementResult[]>(
  new URL("writer-worker.ts", import.meta.url),
);
let lastFileId = 0;

/** Opens a file for writing. */
export function openFileWriter(path: string, lockTimeoutMs: number): FileWriter {
  const file: DatabaseFile = { id: ++lastFileId, path, lockTimeoutMs };
  /** Errands of the file that the thread has not done. */
  let pendingCount = 0;
  const inlineWriter = openInlineWriter(path, () => {
    callWriter({ verb: "checkpoint" }).catch(() => undefined); // The next one does it all.
  });

  async function callWriter(operation: WriterOperation): Promise<StatementResult[]> {
    pendingCount++;
    try {
      const request = { file, ...operation };
      // A small order crosses as text in a third of the time that an object takes.
      return await callWriterWorker(request, { isJson: isSmallRequest(request) }).catch(
        rethrowAsLibsqlError,
      );
    } finally {
      pendingCount--;
    }
  }

  let isReaderUsed = false;
  const callReader = (errand: WriterOperation) => {
    isReaderUsed = true;
    return callReaderWorker({ file, ...errand }, { isJson: true }).catch(rethrowAsLibsqlError);
  };

  return {
    async write(statements, { isSynced, isInline: isQuick }) {
      // While the thread has something to write, or another process writes, it has to wait its turn.
      const results = isQuick && pendingCount === 0 ? inlineWriter.write(statements) : undefined;
      if (results === undefined) {
        return (await callWriter({ verb: "write", statements, isSynced })).map(toResultSet);
      }
      if (isSynced) await inlineWriter.sync();
      return results.map(toResultSet);
    },
    readInBackground: async (statements) =>
      (await callReader({ verb: "read", statements })).map(toResultSet),
    copyTo: async (target) => void (await callReader({ verb: "copy", target })),
    async close() {
      inlineWriter.close();
      if (isReaderUsed) await callReader({ verb: "close" });
      await callWriter({ verb: "close" });
    },
  };
}

function rethrowAsLibsqlError(error: unknown): never {
  if (error instanceof WorkerError) throw new LibsqlError(error.message, error.code);
  throw error;
}

/** Characters of an order's arguments that make it worth sending as text. */
const SMALL_REQUEST_MAX_CHARACTERS = 10_000;

function isSmallRequest(request: WriterRequest): boolean {
  if (request.verb !== "write") return true;
  let characters = 0;
  for (const { args } of request.statements) {
    for (const arg of args) if (typeof arg === "string") characters += arg.length;
  }
  return characters <= SMALL_REQUEST_MAX_CHARACTERS;
}

function toResultSet({ columns, rows, rowsAffected }: StatementResult): ResultSet {
  return {
    columns,
    columnTypes: [],
    rows: rows.map((values) => toRow(columns, values)),
    rowsAffected,
    lastInsertRowid: undefined,
    toJSON: () => ({ columns, rows, rowsAffected }),
  };
}

/** A row by name and, as the client gives it, by position too. */
function toRow(columns: readonly string[], values: readonly Row[0][]): Row {
  const row: Record<string, Row[0]> = {};
  columns.forEach((column, index) => {
    const value = values[index] ?? null;
    Object.defineProperty(row, index, { value });
    row[column] = value;
  });
  return Object.defineProperty(row, "length", { value: columns.length }) as unknown as Row;
}
