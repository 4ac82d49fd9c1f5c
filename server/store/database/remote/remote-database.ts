/** A database on a libSQL server, which many processes may share. */
import type { Client, InStatement } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import pRetry from "p-retry";
import { DomainError } from "../../../../core/errors.ts";
import type { Database, DatabaseOptions } from "../database.ts";
import { chooseBatchMode, NotSentError, rejectTransaction } from "../errors.ts";
import {
  createRemoteClient,
  LONG_CALL_TIMEOUT_MS,
  SHORT_CALL_TIMEOUT_MS,
  type RemoteClient,
} from "./remote-client.ts";

/** How a write is tried again whose answer a server did not give; a second in all. */
export const LOST_RESPONSE_RETRIES = { retries: 4, minTimeout: 50, factor: 2, randomize: true };

/**
 * A server takes and gives no value of 5 MB. A block of the shortest lines has so many that the
 * chunks that they come into are half of that.
 */
const REMOTE_TRANSACTION_MAX_BYTES = 131_072;

/** Opens the database of a server, as it is. */
export function openRemoteDatabase({
  url,
  authToken,
  onAvailabilityChange: onOutage,
}: DatabaseOptions): Database {
  const calls = createRemoteClient({
    url,
    ...(authToken === undefined ? {} : { authToken }),
    onAvailabilityChange: onOutage ?? (() => undefined),
  });
  const execute = (statement: InStatement, timeoutMs?: number) =>
    calls.run((client) => client.execute(statement), timeoutMs);
  return {
    transactionMaxBytes: REMOTE_TRANSACTION_MAX_BYTES,
    drizzle: drizzle(createLibsqlClient(calls)),
    queryRows: async (statement) => (await execute(statement)).rows,
    async queryJson(sql, args) {
      const { rows } = await execute({ sql, args: [...args] }, SHORT_CALL_TIMEOUT_MS);
      const text = rows[0]?.[0];
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
    write(statements, { isIdempotent = false, isInline = false } = {}) {
      const timeoutMs = isInline ? SHORT_CALL_TIMEOUT_MS : undefined;
      const write = () => calls.run((client) => client.batch([...statements], "write"), timeoutMs);
      return isIdempotent ? retryWrite(write, calls.isClosed) : write();
    },
    // A write of which no attempt was sent left nothing. Of others the first may have been stored.
    isRolledBack: (error) => error instanceof NotSentError,
    copyTo: () => Promise.reject(new Error("A server is not copied from here")),
    getOutage: calls.failure,
    warmUp: async () => undefined,
    check: async () => void (await execute("SELECT 1")),
    close: async () => calls.close(),
  };
}

/** Writes what does nothing more when it is done again, until an answer comes or for a second. */
function retryWrite<Result>(
  write: () => Promise<Result>,
  isClosed: () => boolean,
): Promise<Result> {
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
    ...LOST_RESPONSE_RETRIES,
    shouldRetry: ({ error }) =>
      error instanceof DomainError && !(error instanceof NotSentError) && !isClosed(),
  });
}

/** The calls to a server as the client that Drizzle takes. */
function createLibsqlClient(calls: RemoteClient): Client {
  const runLong = <Result>(work: (client: Client) => Promise<Result>) =>
    calls.run(work, LONG_CALL_TIMEOUT_MS);
  return {
    protocol: "http",
    closed: false,
    execute: (statement: InStatement) =>
      calls.run((client) => client.execute(statement), SHORT_CALL_TIMEOUT_MS),
    batch: (statements: InStatement[], mode) =>
      runLong((client) => client.batch(statements, mode ?? chooseBatchMode(statements))),
    migrate: (statements) => runLong((client) => client.migrate(statements)),
    executeMultiple: (sql) => runLong((client) => client.executeMultiple(sql)),
    transaction: rejectTransaction,
    sync: () => Promise.reject(new Error("A server is not copied from here")),
    reconnect: () => undefined,
    close: calls.close,
  };
}
