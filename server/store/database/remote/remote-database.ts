/** A database on a libSQL server that processes share: deadlines, retried writes, outage probes. */
import { setTimeout } from "node:timers/promises";
import pRetry from "p-retry";
import pTimeout from "p-timeout";
import { DomainError } from "../../../../core/errors.ts";
import type { AccessMode, Database, DatabaseOptions, Statement } from "../database.ts";
import { createDrizzleQueries } from "../drizzle-queries.ts";
import { createUnansweredError, NotSentError, toUnavailableError } from "../errors.ts";
import { createCallQueue } from "./call-queue.ts";
import { openRemoteConnection, type RemoteConnection } from "./remote-connection.ts";

const CALL_TIMEOUT_MS = 8000;

/** The timeout of calls in requests that make several, one after another. */
const SHORT_CALL_TIMEOUT_MS = 5000;

/** The timeout of calls that read or change whole tables. */
const LONG_CALL_TIMEOUT_MS = 120_000;

/** These retries take about a second in all. */
export const LOST_RESPONSE_RETRIES = { retries: 4, minTimeout: 50, factor: 2, randomize: true };

/** A server takes no value of 5 MB. With this limit, no value has more than about half of that. */
const REMOTE_TRANSACTION_MAX_BYTES = 131_072;

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

type CallLimits = Parameters<ReturnType<typeof createCallQueue>["run"]>[1];
type ServerAddress = Parameters<typeof openRemoteConnection>[0];

const PROBE_INTERVAL_MS = 250;
const PROBE_TIMEOUT_MS = 1500;

/** Ticks don't pass while the process is busy: no call expires before its response can be read. */
const TICK_MS = 250;

/**
 * The server stops writing for good when many connections wait for its write lock. So a process
 * sends one write at a time, also if that write is slow: its connection may still hold the lock.
 */
const WRITES_IN_FLIGHT = { inFlightMax: 1, unsuspectedMax: 1 };

/** Reads wait for no lock. A slow read makes room for another one. */
const READS_IN_FLIGHT = { inFlightMax: 24, unsuspectedMax: 8 };

/**
 * Creates the client of a server. Each call has a deadline after which it is aborted; the numbers
 * of calls in flight and waiting are bounded; and a circuit breaker sends no call to a server that
 * does not answer, until a probe succeeds.
 */
function createRemoteClient(options: DatabaseOptions) {
  let isClosed = false;
  /** Why the server does not answer; `undefined` while it does. */
  let outage: DomainError | undefined;
  let probing: Promise<void> | undefined;
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
    if (lastProbeAt === now || outage !== undefined) return;
    lastProbeAt = now;
    closeConnections();
    probing ??= probeUntilAnswered().finally(() => (probing = undefined));
  }

  async function probeUntilAnswered(): Promise<void> {
    do {
      if (outage !== undefined) await setTimeout(PROBE_INTERVAL_MS, undefined, { ref: false });
      const failure = await probe(options);
      if (isClosed) return;
      const isChange = (failure === undefined) !== (outage === undefined);
      outage = failure;
      if (!isChange) continue;
      closeConnections(failure);
      options.onAvailabilityChange?.(failure);
    } while (outage !== undefined);
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
      const refusal = isClosed ? createUnansweredError() : outage;
      if (refusal !== undefined) return Promise.reject(new NotSentError(refusal));
      timer ??= setInterval(handleTick, TICK_MS).unref();
      return queues[access].run(operation, limits);
    },

    getOutage: (): DomainError | undefined => outage,

    isClosed: (): boolean => isClosed,

    close(): void {
      isClosed = true;
      closeConnections(createUnansweredError());
      clearInterval(timer);
    },
  };
}

/** Queries a server, on a new connection; resolves to the reason why it does not answer. */
async function probe(address: ServerAddress): Promise<DomainError | undefined> {
  try {
    await query(address);
    return undefined;
  } catch (error) {
    // Any other error is a response: the server refused the probe.
    return error instanceof DomainError ? error : toUnavailableError(error);
  }
}

/** Whether a server answers anyone who can reach it. */
export const answersWithoutToken = (url: string): Promise<boolean> =>
  // The URL can have a token too.
  query({ url, authToken: "" }).then(
    () => true,
    () => false,
  );

async function query(address: ServerAddress): Promise<void> {
  const connection = openRemoteConnection(address);
  try {
    const answer = connection.execute({ sql: "SELECT 1", args: [] });
    await pTimeout(answer, { milliseconds: PROBE_TIMEOUT_MS, message: createUnansweredError() });
  } finally {
    connection.close();
  }
}
