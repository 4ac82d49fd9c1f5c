/**
 * What the client needs to be safe: it tells what can pass by itself, and a connection that could
 * not have a lock is opened anew before its next use.
 */
import type { Client, InStatement } from "@libsql/client";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { DomainError, isOutOfDescriptors, systemCodeOf } from "../../core/errors.ts";

/** Runs a call of a client. */
type Guard = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** Runs a call; what can pass by itself fails as `Service Unavailable`. */
export const tellUnavailable: Guard = async (call) => {
  try {
    return await call();
  } catch (error) {
    throw asUnavailable(error) ?? error;
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
export function unanswered(): DomainError {
  return new DomainError("Service Unavailable", "The database does not answer right now");
}

/**
 * Wraps the client of a file. Calls go one by one, because the client hands a connection that
 * could not have a lock to the next call before it tells of the failure.
 */
export async function guardFile(client: Client, pragmas: readonly string[]): Promise<Client> {
  let isReady = false;
  let last: Promise<unknown> = Promise.resolve();
  const attempt: Guard = async (call) => {
    try {
      if (!isReady && !client.closed) {
        await client.reconnect();
        for (const pragma of pragmas) await client.execute(pragma);
        isReady = true;
      }
      return await call();
    } catch (error) {
      const unavailable = asUnavailable(error);
      if (unavailable === undefined) throw error;
      isReady = false;
      throw unavailable;
    }
  };
  const guard: Guard = (call) => {
    const next = last.then(() => attempt(call));
    last = next.catch(() => undefined);
    return next;
  };
  await guard(() => Promise.resolve());
  return {
    protocol: client.protocol,
    get closed() {
      return client.closed;
    },
    execute: (statement: InStatement) => guard(() => client.execute(statement)),
    batch: (statements: InStatement[], mode) =>
      guard(() => client.batch(statements, mode ?? batchMode(statements))),
    migrate: (statements) => guard(() => client.migrate(statements)),
    executeMultiple: (sql) => guard(() => client.executeMultiple(sql)),
    transaction: refuseTransaction,
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
  };
}

/** A transaction that waits for its caller holds the lock from all others. */
export const refuseTransaction = () =>
  Promise.reject(new Error("Interactive transactions are not safe here"));

/** The mode of a batch: one of anything but queries takes its lock at once. */
export function batchMode(statements: readonly InStatement[]): "read" | "write" {
  return areQueries(statements) ? "read" : "write";
}

/** Whether statements only read. */
export function areQueries(statements: readonly InStatement[]): boolean {
  return statements.every((statement) =>
    /^\s*(?:select|with)\b/i.test(typeof statement === "string" ? statement : statement.sql),
  );
}

const PASSING_CODES = new RegExp(
  "^(?:SQLITE_(?:BUSY|LOCKED|FULL|READONLY|CANTOPEN)|" +
    "HRANA_(?:WEBSOCKET|CLOSED|PROTO)_ERROR|ZlibError)",
);

/** The last is an answer that was cut, the one before what stands in front of a server. */
const PASSING = new RegExp(
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
export function asUnavailable(error: unknown): DomainError | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = systemCodeOf(error);
  const isPassing =
    isOutOfDescriptors(error) ||
    PASSING_CODES.test(code) ||
    PASSING.test(`${error.message} ${code}`);
  if (!isPassing) return undefined;
  const message = "The database cannot be reached right now";
  return new DomainError("Service Unavailable", message, { cause: error });
}

/**
 * Whether a transaction of a file failed in a way that left nothing of it. Of what failed at the
 * disk itself, or at no statement, that is not known.
 */
export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^SQLITE_(?!IOERR)/.test(systemCodeOf(error)) || isRolledBack(error.cause);
}

/** What a query failed with, which Drizzle wraps in the query's text. */
export function causeOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
}

/** Drizzle wraps what a query failed with; its caller gets the domain's error itself. */
export async function ownError<Result>(call: () => PromiseLike<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const isOwn = error instanceof DrizzleQueryError && error.cause instanceof DomainError;
    throw isOwn ? error.cause : error;
  }
}

type Methods = Readonly<Record<string, (...args: never[]) => PromiseLike<unknown>>>;

type Promised<Store extends Methods> = {
  readonly [Name in keyof Store]: (
    ...args: Parameters<Store[Name]>
  ) => Promise<Awaited<ReturnType<Store[Name]>>>;
};

/** Makes all methods of a store fail with the domain's errors, whatever ran the query. */
export function withOwnErrors<Store extends Methods>(store: Store): Promised<Store> {
  const methods: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(store)) {
    methods[name] = (...args: never[]) => ownError(() => method(...args));
  }
  return methods as Promised<Store>;
}
