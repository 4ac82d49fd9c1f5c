/** A database on a libSQL server, which many processes may share. */
import pRetry from "p-retry";
import { DomainError } from "../../../../core/errors.ts";
import type { AccessMode, Database, DatabaseOptions, Statement } from "../database.ts";
import { createDrizzleQueries } from "../drizzle-queries.ts";
import { NotSentError } from "../errors.ts";
import type { CallLimits } from "./call-queue.ts";
import { createRemoteClient } from "./remote-client.ts";

const CALL_TIMEOUT_MS = 8000;

/** The timeout of calls in requests that make several, one after another. */
const SHORT_CALL_TIMEOUT_MS = 5000;

/** The timeout of calls that read or change whole tables. */
const LONG_CALL_TIMEOUT_MS = 120_000;

/** About a second in all. */
export const LOST_RESPONSE_RETRIES = { retries: 4, minTimeout: 50, factor: 2, randomize: true };

/**
 * A server neither accepts nor returns a value of 5 MB. The shortest observations touch the most
 * chunks: with this limit, the largest value is half of that.
 */
const REMOTE_TRANSACTION_MAX_BYTES = 131_072;

/** Opens the database of a server, as it is. */
export async function openRemoteDatabase(options: DatabaseOptions): Promise<Database> {
  const remote = createRemoteClient(options);
  if (options.durability === "process") return createRemoteDatabase(remote);
  try {
    const limits = { timeoutMs: CALL_TIMEOUT_MS };
    const fault = await remote.run("read", (reader) => reader.findDurabilityFault(), limits);
    if (fault !== undefined) throw new DomainError("Conflict", fault);
    return createRemoteDatabase(remote);
  } catch (error) {
    remote.close();
    throw error;
  }
}

function createRemoteDatabase(remote: ReturnType<typeof createRemoteClient>): Database {
  const execute = (statement: Statement, access: AccessMode, timeoutMs = CALL_TIMEOUT_MS) =>
    remote.run(access, (connection) => connection.execute(statement), { timeoutMs });
  const batch = (statements: readonly Statement[], access: AccessMode, limits: CallLimits) =>
    remote.run(access, (connection) => connection.batch(statements, access), limits);
  return {
    transactionMaxBytes: REMOTE_TRANSACTION_MAX_BYTES,
    query: createDrizzleQueries({
      execute: (statement, access) => execute(statement, access, SHORT_CALL_TIMEOUT_MS),
      batch: (statements, access) => batch(statements, access, { timeoutMs: LONG_CALL_TIMEOUT_MS }),
    }),
    async queryRows(given) {
      const statement = typeof given === "string" ? { sql: given, args: [] } : given;
      return (await execute(statement, "read")).rows;
    },
    async queryJson(sql, args) {
      const { rows } = await execute({ sql, args: [...args] }, "read", SHORT_CALL_TIMEOUT_MS);
      const text = rows[0]?.[0];
      return typeof text === "string" ? JSON.parse(text) : undefined;
    },
    write(statements, { idempotent = false, inline = false } = {}) {
      const timeoutMs = inline ? SHORT_CALL_TIMEOUT_MS : CALL_TIMEOUT_MS;
      const write = () => batch(statements, "write", { timeoutMs, isUrgent: inline });
      return idempotent ? retryWrite(write, remote.isClosed) : write();
    },
    sync: async () => undefined,
    // Only if no attempt was sent: an attempt without a response may have been stored.
    isRolledBack: (error) => error instanceof NotSentError,
    copyTo: () => Promise.reject(new Error("Only the file of a database can be copied")),
    getOutage: remote.getOutage,
    warmUp: async () => undefined,
    check: async () => void (await execute({ sql: "SELECT 1", args: [] }, "read")),
    close: async () => remote.close(),
  };
}

/** Runs an idempotent write until there is a response. */
function retryWrite<Result>(write: () => Promise<Result>, isClosed: () => boolean) {
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
