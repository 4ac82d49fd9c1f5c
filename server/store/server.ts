/** A database on a libSQL server, which many processes may share. */
import type { Client, InStatement } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import pRetry from "p-retry";
import { DomainError } from "../../core/errors.ts";
import type { Database, DatabaseOptions } from "./database.ts";
import { batchMode, NotSentError, refuseTransaction } from "./guard.ts";
import {
  createServerCalls,
  LONG_CALL_TIMEOUT_MS,
  QUICK_CALL_TIMEOUT_MS,
  type ServerCalls,
} from "./server-calls.ts";

/** How a write is tried again whose answer a server did not give; a second in all. */
export const LOST_ANSWER_RETRIES = { retries: 4, minTimeout: 50, factor: 2, randomize: true };

/**
 * A server takes and gives no value of 5 MB. A block of the shortest lines has so many that the
 * chunks that they come into are half of that.
 */
const SERVER_BLOCK_BYTES = 131_072;

/** Opens the database of a server, as it is. */
export function openServer({ url, authToken, onOutage }: DatabaseOptions): Database {
  const calls = createServerCalls({
    url,
    ...(authToken === undefined ? {} : { authToken }),
    onChange: onOutage ?? (() => undefined),
  });
  const execute = (statement: InStatement, timeoutMs?: number) =>
    calls.run((client) => client.execute(statement), timeoutMs);
  return {
    blockBytes: SERVER_BLOCK_BYTES,
    query: drizzle(clientOf(calls)),
    select: async (statement) => (await execute(statement)).rows,
    async document(sql, args) {
      const { rows } = await execute({ sql, args: [...args] }, QUICK_CALL_TIMEOUT_MS);
      const text = rows[0]?.[0];
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
    write(statements, { isRepeatable = false, isQuick = false } = {}) {
      const timeoutMs = isQuick ? QUICK_CALL_TIMEOUT_MS : undefined;
      const write = () => calls.run((client) => client.batch([...statements], "write"), timeoutMs);
      return isRepeatable ? repeat(write, calls.isClosed) : write();
    },
    // A write of which no attempt was sent left nothing. Of others the first may have been stored.
    leftNothing: (error) => error instanceof NotSentError,
    copyTo: () => Promise.reject(new Error("A server is not copied from here")),
    outage: calls.failure,
    warmUp: async () => undefined,
    check: async () => void (await execute("SELECT 1")),
    close: async () => calls.close(),
  };
}

/** Writes what does nothing more when it is done again, until an answer comes or for a second. */
function repeat<Result>(write: () => Promise<Result>, isClosed: () => boolean): Promise<Result> {
  let wasSent = false;
  const attempt = async () => {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof NotSentError)) wasSent = true;
      else if (wasSent) throw new DomainError(error.code, error.message, { cause: error.cause });
      throw error;
    }
  };
  return pRetry(attempt, {
    ...LOST_ANSWER_RETRIES,
    shouldRetry: ({ error }) =>
      error instanceof DomainError && !(error instanceof NotSentError) && !isClosed(),
  });
}

/** The calls to a server as the client that Drizzle takes. */
function clientOf(calls: ServerCalls): Client {
  const runLong = <Result>(work: (client: Client) => Promise<Result>) =>
    calls.run(work, LONG_CALL_TIMEOUT_MS);
  return {
    protocol: "http",
    closed: false,
    execute: (statement: InStatement) =>
      calls.run((client) => client.execute(statement), QUICK_CALL_TIMEOUT_MS),
    batch: (statements: InStatement[], mode) =>
      runLong((client) => client.batch(statements, mode ?? batchMode(statements))),
    migrate: (statements) => runLong((client) => client.migrate(statements)),
    executeMultiple: (sql) => runLong((client) => client.executeMultiple(sql)),
    transaction: refuseTransaction,
    sync: () => Promise.reject(new Error("A server is not copied from here")),
    reconnect: () => undefined,
    close: calls.close,
  };
}
