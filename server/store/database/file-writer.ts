/**
 * Writes database files: short writes inline, all others in a worker thread. A second worker runs
 * what only reads but takes long. Neither keeps the process alive while it is idle.
 */
import { LibsqlError, type ResultSet } from "@libsql/client";
import type { Statement } from "./database.ts";
import { openInlineWriter } from "./inline-writer.ts";
import { toResultSet, type StatementResult } from "./sqlite-connection.ts";
import { createWorkerClient, WorkerError } from "./worker-rpc.ts";

/** A file that is open for writing. */
interface DatabaseFile {
  readonly id: number;
  readonly path: string;
  readonly lockTimeoutMs: number;
}

/** A request to a worker. */
export type WriterRequest = { readonly file: DatabaseFile } & WriterOperation;

type WriterOperation =
  | {
      readonly method: "write";
      readonly statements: readonly Statement[];
      readonly isSynced: boolean;
    }
  | { readonly method: "read"; readonly statements: readonly Statement[] }
  | { readonly method: "copy"; readonly target: string }
  | { readonly method: "checkpoint" | "close" };

// One of each for all files of the process; a thread starts with its first request.
const WORKER_FILE = new URL("writer-worker.ts", import.meta.url);
const callWriterWorker = createWorkerClient<WriterRequest, StatementResult[]>(WORKER_FILE);
const callReaderWorker = createWorkerClient<WriterRequest, StatementResult[]>(WORKER_FILE);
let lastFileId = 0;

/**
 * Opens a file for writing.
 *
 * @param lockTimeoutMs How long a write waits for a lock that another process holds.
 */
export function openFileWriter(path: string, lockTimeoutMs: number) {
  const file: DatabaseFile = { id: ++lastFileId, path, lockTimeoutMs };
  let pendingCount = 0;
  let isReaderUsed = false;
  const inlineWriter = openInlineWriter(path, () => {
    callWriter({ method: "checkpoint" }).catch(() => undefined); // The next one does it all.
  });

  async function callWriter(operation: WriterOperation): Promise<StatementResult[]> {
    pendingCount++;
    try {
      // A small request crosses as text in a third of the time that an object takes.
      const options = { isJson: isSmallRequest(operation) };
      return await callWriterWorker({ file, ...operation }, options).catch(rethrowAsLibsqlError);
    } finally {
      pendingCount--;
    }
  }

  function callReader(operation: WriterOperation): Promise<StatementResult[]> {
    isReaderUsed = true;
    return callReaderWorker({ file, ...operation }, { isJson: true }).catch(rethrowAsLibsqlError);
  }

  return {
    /**
     * Runs statements as one transaction, in the order of the calls.
     *
     * @param options.isSynced The commit survives a power cut, not only the death of the process.
     * @param options.inline The statements are short enough for the thread that serves requests.
     */
    async write(
      statements: readonly Statement[],
      { isSynced, inline }: { readonly isSynced: boolean; readonly inline: boolean },
    ): Promise<ResultSet[]> {
      // Writes that the worker has not finished come first.
      const results = inline && pendingCount === 0 ? inlineWriter.write(statements) : undefined;
      if (results === undefined) {
        return (await callWriter({ method: "write", statements, isSynced })).map(toResultSet);
      }
      if (isSynced) await inlineWriter.sync();
      return results.map(toResultSet);
    },

    /** Reads at one instant. It blocks neither requests nor writes, however long it takes. */
    readInBackground: async (statements: readonly Statement[]): Promise<ResultSet[]> =>
      (await callReader({ method: "read", statements })).map(toResultSet),

    /** Copies the database, as it is at one instant, into a new file. It blocks nothing either. */
    copyTo: async (target: string): Promise<void> =>
      void (await callReader({ method: "copy", target })),

    async close(): Promise<void> {
      inlineWriter.close();
      if (isReaderUsed) await callReader({ method: "close" });
      await callWriter({ method: "close" });
    },
  };
}

function rethrowAsLibsqlError(error: unknown): never {
  if (error instanceof WorkerError) throw new LibsqlError(error.message, error.code);
  throw error;
}

const SMALL_REQUEST_MAX_CHARACTERS = 10_000;

function isSmallRequest(operation: WriterOperation): boolean {
  if (operation.method !== "write") return true;
  let characters = 0;
  for (const { args } of operation.statements) {
    for (const arg of args) if (typeof arg === "string") characters += arg.length;
  }
  return characters <= SMALL_REQUEST_MAX_CHARACTERS;
}
