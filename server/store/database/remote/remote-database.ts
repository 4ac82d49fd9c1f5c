/** A database on a libSQL server that processes share: deadlines, retried writes, outage probes. */
import { ResponseError } from "@libsql/hrana-client";
import { DomainError } from "../../../../core/errors.ts";
import type {
  AccessMode,
  Database,
  DatabaseOptions,
  Statement,
  StatementResult,
} from "../database.ts";
import { createDrizzleQueries } from "../drizzle-queries.ts";
import { createUnansweredError, NotSentError } from "../errors.ts";
import {
  CHECK_VERSION,
  createNewerTablesError,
  isVersionConflict,
  SELECT_HAS_NEWER_TABLES,
} from "../tables-version.ts";
import { createCallQueue, isRefusal } from "./call-queue.ts";
import { createOutageDetector } from "./outage-detector.ts";
import { retryWrite } from "./retry-write.ts";
import { openRemoteConnection, type RemoteConnection } from "./remote-connection.ts";

const CALL_TIMEOUT_MS = 8000;

/** The timeout of calls in requests that make several, one after another. */
const SHORT_CALL_TIMEOUT_MS = 5000;

/** The timeout of calls that read or change whole tables. */
const LONG_CALL_TIMEOUT_MS = 120_000;

/** A server takes no value of 5 MB. With this limit, no value has more than about half of that. */
const REMOTE_TRANSACTION_MAX_BYTES = 131_072;

/** A database but for its copies, which the server sends in another way than results of calls. */
type RemoteDatabase = Omit<Database, "copyTo">;

export async function openRemoteDatabase(options: DatabaseOptions): Promise<RemoteDatabase> {
  const remote = refuseNewerTables(createRemoteClient(options), options);
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

function createRemoteDatabase(remote: ReturnType<typeof refuseNewerTables>): RemoteDatabase {
  const execute = (statement: Statement, access: AccessMode, timeoutMs = CALL_TIMEOUT_MS) =>
    remote.run(access, (connection) => connection.execute(statement), { timeoutMs });
  const batch = (statements: readonly Statement[], access: AccessMode, limits: CallLimits) =>
    remote.run(access, (connection) => connection.batch(statements, access), limits);
  /** Runs a transaction that fails if a newer version of the service made the tables. */
  const checkedWrite = async (statements: readonly Statement[], limits: CallLimits) =>
    (await batch([CHECK_VERSION, ...statements], "write", limits)).slice(1);
  return {
    transactionMaxBytes: REMOTE_TRANSACTION_MAX_BYTES,
    query: createDrizzleQueries({
      async execute(statement, access) {
        const limits = { timeoutMs: SHORT_CALL_TIMEOUT_MS };
        if (access === "read") return execute(statement, access, limits.timeoutMs);
        return getOnly(await checkedWrite([statement], limits));
      },
      // Only migrations write batches, and before them there is no version.
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
    write(statements, { idempotent = false, inline = false, isVersionChecked = false } = {}) {
      const timeoutMs = inline ? SHORT_CALL_TIMEOUT_MS : CALL_TIMEOUT_MS;
      // A pipelined write fails with its connection, and then has to be sent again.
      const limits = { timeoutMs, isUrgent: inline, isPipelined: inline && idempotent };
      const write = () =>
        isVersionChecked ? batch(statements, "write", limits) : checkedWrite(statements, limits);
      // A request does not wait for the end of an outage.
      const isOver = () => remote.isClosed() || (inline && remote.getOutage() !== undefined);
      return idempotent ? retryWrite(write, isOver) : write();
    },
    sync: async () => undefined,
    // Only if no attempt was sent: an attempt without a response may have been stored.
    isRolledBack: (error) => error instanceof NotSentError,
    probe: remote.probe,
    getOutage: remote.getOutage,
    readFileUse: async () => undefined,
    warmUp: async () => undefined,
    check: remote.check,
    close: async () => remote.close(),
  };
}

function getOnly([result]: readonly StatementResult[]): StatementResult {
  if (result === undefined) throw new Error("The server did not run a statement");
  return result;
}

type CallLimits = Parameters<ReturnType<typeof createCallQueue>["run"]>[1];

/** The most short writes in flight on the connection. */
export const PIPELINED_WRITES_MAX = 4;

/** Ticks don't pass while the process is busy: no call expires before its response can be read. */
const TICK_MS = 100;

/**
 * The server stops writing for good when many connections wait for its write lock. So a process
 * writes on one connection, also if a write is slow: its connection may still hold the lock. Short
 * writes follow each other there without waiting for the responses.
 */
const WRITES_IN_FLIGHT = {
  inFlightMax: 1,
  unsuspectedMax: 1,
  pipelinedMax: PIPELINED_WRITES_MAX,
};

/** Reads wait for no lock. A slow read makes room for another one. */
const READS_IN_FLIGHT = { inFlightMax: 24, unsuspectedMax: 8 };

/**
 * Creates the client of a server. Each call has a deadline after which it is aborted; the numbers
 * of calls in flight and waiting are bounded; and a circuit breaker sends no call to a server that
 * does not answer, until a probe succeeds.
 */
function createRemoteClient(options: DatabaseOptions) {
  let isClosed = false;
  const detector = createOutageDetector(options, (failure) => {
    closeConnections(failure);
    options.onAvailabilityChange?.(failure);
  });
  let now = 0;
  let lastProbeAt = -1;
  let timer: ReturnType<typeof setInterval> | undefined;
  const queueOptions = { now: () => now, onFailure: probeOncePerTick };
  const openReader = () => openRemoteConnection(options);
  const openWriter = () =>
    openRemoteConnection(options, { isSyncRequired: options.durability === "power" });
  // Reads and writes wait apart from each other.
  const queues = {
    read: createCallQueue({ ...queueOptions, ...READS_IN_FLIGHT, openConnection: openReader }),
    write: createCallQueue({ ...queueOptions, ...WRITES_IN_FLIGHT, openConnection: openWriter }),
  };
  const allQueues = Object.values(queues);

  /** Closes the idle connections and, after a failure, those of all calls. */
  function closeConnections(failure?: DomainError): void {
    for (const queue of allQueues) {
      if (failure !== undefined) queue.abortAll(failure);
      queue.discardIdle();
    }
  }

  function probeOncePerTick(): void {
    if (lastProbeAt === now || detector.getOutage() !== undefined) return;
    lastProbeAt = now;
    probe();
  }

  /** The next calls use new connections, because the idle ones may be dead. */
  function probe(): void {
    closeConnections();
    detector.probe();
  }

  function handleTick(): void {
    now += TICK_MS;
    if (allQueues.every((queue) => queue.isIdle())) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    // The probe comes first, so that no waiting call is sent on a connection that may be dead.
    if (allQueues.some((queue) => queue.hasNewSuspect())) probeOncePerTick();
    for (const queue of allQueues) queue.handleTick();
  }

  return {
    /** After any error but a {@link NotSentError}, the server may have executed the call. */
    run<Result>(
      access: keyof typeof queues,
      operation: (connection: RemoteConnection) => Promise<Result>,
      limits: CallLimits,
    ): Promise<Result> {
      const refusal = isClosed ? createUnansweredError() : detector.getOutage();
      if (refusal !== undefined) return Promise.reject(new NotSentError(refusal));
      timer ??= setInterval(handleTick, TICK_MS).unref();
      return queues[access].run(operation, limits);
    },

    probe,
    getOutage: detector.getOutage,

    isClosed: (): boolean => isClosed,

    close(): void {
      isClosed = true;
      detector.stop();
      closeConnections(createUnansweredError());
      clearInterval(timer);
    },
  };
}

/** Lets a client send no more calls once a newer version of the service has made the tables. */
function refuseNewerTables(
  client: ReturnType<typeof createRemoteClient>,
  { onNewerTables }: DatabaseOptions,
) {
  let hasNewerTables = false;

  function recordNewerTables(): NotSentError {
    if (!hasNewerTables) onNewerTables?.();
    hasNewerTables = true;
    return createNewerTablesError();
  }

  /** Throws if the tables are newer, or if the server does not answer. */
  async function check(): Promise<void> {
    if (hasNewerTables) throw createNewerTablesError();
    const select = (connection: RemoteConnection) => connection.execute(SELECT_HAS_NEWER_TABLES);
    const { rows } = await client.run("read", select, { timeoutMs: CALL_TIMEOUT_MS });
    if (rows[0]?.["has_newer_tables"] === 1) throw recordNewerTables();
  }

  return {
    ...client,
    check,

    async run<Result>(...call: Parameters<typeof client.run<Result>>): Promise<Result> {
      if (hasNewerTables) throw createNewerTablesError();
      try {
        return await client.run(...call);
      } catch (error) {
        if (isVersionConflict(error)) throw recordNewerTables();
        // Newer tables may lack a table or a column of the statement.
        if (error instanceof ResponseError && !isRefusal(error)) await check();
        throw error;
      }
    },
  };
}
