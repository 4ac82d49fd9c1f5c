/**
 * What the client needs to be safe: it tells what can pass by itself, and a connection that could
 * not have a lock is opened anew before its next use.
 */
import type { Client, InStatement } from "@libsql/client";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { DomainError } from "../../../core/errors.ts";
import { isOutOfDescriptors, readSystemErrorCode } from "../../system-errors.ts";

/** Runs a call of a client. */
type CallWrapper = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** Runs a call; what can pass by itself fails as `Service Unavailable`. */
export const mapTransientErrors: CallWrapper = async (call) => {
  try {
    return await call();
  } catch (error) {
    throw toUnavailableError(error) ?? error;
  }
};

/** A call that was not sent to a server, so that nothing of it was done. */
export class NotSentError extends DomainError {
  /** @param cause Why it was not sent. */
  constructor(cause: DomainError) {
    super(cause.code, cause.message, { cause });
  }
}

/** The error of a call that a server does not answer in time. */
export function createUnansweredError(): DomainError {
  return new DomainError("Service Unavailable", "The database does not answer right now");
}

/**
 * Wraps the client of a file. Calls go one by one, because the client hands a connection that
 * could not have a lock to the next call before it tells of the failure.
 */
export async function wrapFileClient(client: Client, pragmas: readonly string[]): Promise<Client> {
  let isConnected = false;
  let previousCall: Promise<unknown> = Promise.resolve();
  const attempt: CallWrapper = async (call) => {
    try {
      if (!isConnected && !client.closed) {
        await client.reconnect();
        for (const pragma of pragmas) await client.execute(pragma);
        isConnected = true;
      }
      return await call();
    } catch (error) {
      const unavailable = toUnavailableError(error);
      if (unavailable === undefined) throw error;
      isConnected = false;
      throw unavailable;
    }
  };
  const runInOrder: CallWrapper = (call) => {
    const next = previousCall.then(() => attempt(call));
    previousCall = next.catch(() => undefined);
    return next;
  };
  await runInOrder(() => Promise.resolve());
  return {
    protocol: client.protocol,
    get closed() {
      return client.closed;
    },
    execute: (statement: InStatement) => runInOrder(() => client.execute(statement)),
    batch: (statements: InStatement[], mode) =>
      runInOrder(() => client.batch(statements, mode ?? chooseBatchMode(statements))),
    migrate: (statements) => runInOrder(() => client.migrate(statements)),
    executeMultiple: (sql) => runInOrder(() => client.executeMultiple(sql)),
    transaction: rejectTransaction,
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
  };
}

/** A transaction that waits for its caller holds the lock from all others. */
export const rejectTransaction = () =>
  Promise.reject(new Error("Interactive transactions are not safe here"));

/** The mode of a batch: one of anything but queries takes its lock at once. */
export function chooseBatchMode(statements: readonly InStatement[]): "read" | "write" {
  return isReadOnly(statements) ? "read" : "write";
}

/** Whether statements only read. */
export function isReadOnly(statements: readonly InStatement[]): boolean {
  return statements.every((statement) =>
    /^\s*(?:select|with)\b/i.test(typeof statement === "string" ? statement : statement.sql),
  );
}

const TRANSIENT_CODES = new RegExp(
  "^(?:SQLITE_(?:BUSY|LOCKED|FULL|READONLY|CANTOPEN)|" +
    "HRANA_(?:WEBSOCKET|CLOSED|PROTO)_ERROR|ZlibError)",
);

/** The last is an answer that was cut, the one before what stands in front of a server. */
const TRANSIENT_MESSAGES = new RegExp(
  "Unable to open connection to local database|ConnectionRefused|ECONNREFUSED|ECONNRESET|" +
    "Unable to connect|socket connection was closed|" +
    "ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|" +
    "HTTP status (?:429|502|503|504)|JSON Parse error",
);

/**
 * What can pass by itself: a lock that another holds, a server that is away, a full disk, a file
 * that may only be read, or was moved and may come back, a file that cannot be opened because the
 * process has no file descriptors left.
 */
export function toUnavailableError(error: unknown): DomainError | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = readSystemErrorCode(error);
  const isTransient =
    isOutOfDescriptors(error) ||
    TRANSIENT_CODES.test(code) ||
    TRANSIENT_MESSAGES.test(`${error.message} ${code}`);
  if (!isTransient) return undefined;
  const message = "The database cannot be reached right now";
  return new DomainError("Service Unavailable", message, { cause: error });
}

/**
 * Whether a transaction of a file failed in a way that left nothing of it. Of what failed at the
 * disk itself, or at no statement, that is not known.
 */
export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^SQLITE_(?!IOERR)/.test(readSystemErrorCode(error)) || isRolledBack(error.cause);
}

/** What a query failed with, which Drizzle wraps in the query's text. */
export function unwrapDrizzleError(error: unknown): unknown {
  return error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
}

/** Drizzle wraps what a query failed with; its caller gets the domain's error itself. */
export async function unwrapDomainErrors<Result>(call: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const isWrappedDomainError =
      error instanceof DrizzleQueryError && error.cause instanceof DomainError;
    throw isWrappedDomainError ? error.cause : error;
  }
}

type AsyncMethods = Readonly<Record<string, (...args: never[]) => PromiseLike<unknown>>>;

type PromisedMethods<Store extends AsyncMethods> = {
  readonly [Name in keyof Store]: (
    ...args: Parameters<Store[Name]>
  ) => Promise<Awaited<ReturnType<Store[Name]>>>;
};

/** Makes all methods of a store fail with the domain's errors, whatever ran the query. */
export function withDomainErrors<Store extends AsyncMethods>(store: Store): PromisedMethods<Store> {
  const methods: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(store)) {
    methods[name] = (...args: never[]) => unwrapDomainErrors(() => method(...args));
  }
  return methods as PromisedMethods<Store>;
}
