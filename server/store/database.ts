/**
 * The database: an embedded libSQL file, or a libSQL server.
 *
 * What the client needs to be safe is kept here. A file has one owner and one connection, waits
 * for a lock instead of failing, and is opened anew after a lock could not be had (the connection
 * would acknowledge writes that it never stores). Writes are single statements or one batch, never
 * an interactive transaction, and each is conditional in SQL, so it is exact on a file and on a
 * server shared by many processes.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  createClient,
  LibsqlError,
  type Client,
  type InStatement,
  type ResultSet,
  type Row,
} from "@libsql/client";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { drizzle, type LibSQLDatabase } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { DomainError } from "../../core/errors.ts";

/** Where the database is and what a commit survives. */
export interface DatabaseOptions {
  /** `file:`, `libsql://`, `http(s)://` or `ws(s)://`. */
  readonly url: string;
  readonly authToken?: string;
  /** `power`: a commit survives a power cut; `process`: the death of the process. */
  readonly durability: "power" | "process";
  /** How long a statement waits for a lock that another process holds; 5 seconds if left out. */
  readonly lockTimeoutMs?: number;
}

/** An open database. */
export interface Database {
  /** Typed queries. A batch of them is one transaction. */
  readonly query: LibSQLDatabase;
  /** Reads the rows of one statement. */
  select(statement: InStatement): Promise<Row[]>;
  /** Writes statements as one transaction: all or none. */
  write(statements: readonly InStatement[]): Promise<ResultSet[]>;
  /** Copies the whole database, as it is at one instant, into a new file. */
  copyTo(file: string): Promise<void>;
  close(): void;
}

const LOCK_TIMEOUT_MS = 5000;

/** The path of the file that a URL names, or `undefined` where it names a server. */
export function databaseFile(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return decodeURIComponent(url.slice("file:".length).replace(/^\/\/(?=\/)/, ""));
}

/**
 * Opens the database, makes its folder and brings its tables up to date.
 *
 * @throws {DomainError} `Service Unavailable` when a server cannot be reached or a lock not had.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const file = databaseFile(options.url);
  if (file !== undefined) await mkdir(dirname(file), { recursive: true });
  const client = createClient({
    url: options.url,
    ...(options.authToken === undefined ? {} : { authToken: options.authToken }),
    ...(file === undefined
      ? {}
      : { concurrency: 1, timeout: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS }),
  });
  const pragmas = [
    "PRAGMA journal_mode = WAL",
    `PRAGMA synchronous = ${options.durability === "power" ? "FULL" : "NORMAL"}`,
  ];
  const guarded = file === undefined ? guardServer(client) : await guardFile(client, pragmas);
  const query = drizzle(guarded);
  const migrationsFolder = join(import.meta.dir, "migrations");
  await ownError(() => migrate(query, { migrationsFolder }));
  return {
    query,
    select: async (statement) => (await guarded.execute(statement)).rows,
    write: (statements) => guarded.batch([...statements], "write"),
    copyTo: async (target) => {
      await guarded.execute({ sql: "VACUUM INTO ?", args: [target] });
    },
    close: () => client.close(),
  };
}

/** Runs a call of the client. */
type Guard = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** Wraps the client of a server, which many calls may use at once. */
function guardServer(client: Client): Client {
  return guardClient(client, async (call) => {
    try {
      return await call();
    } catch (error) {
      throw asUnavailable(error) ?? error;
    }
  });
}

/**
 * Wraps the client of a file. A connection that could not have a lock is opened anew before its
 * next use; calls go one by one, because the client hands such a connection to the next call
 * before it tells of the failure.
 */
async function guardFile(client: Client, pragmas: readonly string[]): Promise<Client> {
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
  return guardClient(client, guard);
}

/** Wraps a client; a batch of anything but queries takes its lock at once. */
function guardClient(client: Client, guard: Guard): Client {
  return {
    protocol: client.protocol,
    get closed() {
      return client.closed;
    },
    execute: (statement: InStatement) => guard(() => client.execute(statement)),
    batch: (statements: InStatement[], mode?: "read" | "write" | "deferred") =>
      guard(() => client.batch(statements, mode ?? batchMode(statements))),
    migrate: (statements) => guard(() => client.migrate(statements)),
    executeMultiple: (sql) => guard(() => client.executeMultiple(sql)),
    transaction: () => Promise.reject(new Error("Interactive transactions are not safe here")),
    sync: () => client.sync(),
    reconnect: () => client.reconnect(),
    close: () => client.close(),
  };
}

function batchMode(statements: readonly InStatement[]): "read" | "write" {
  const isQuery = (statement: InStatement) =>
    /^\s*select\b/i.test(typeof statement === "string" ? statement : statement.sql);
  return statements.every(isQuery) ? "read" : "write";
}

/** What can pass by itself: a lock that another holds, a server that is away. */
function asUnavailable(error: unknown): DomainError | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = error instanceof LibsqlError ? error.code : "";
  const isPassing =
    ["SQLITE_BUSY", "SQLITE_LOCKED", "HRANA_WEBSOCKET_ERROR", "HRANA_CLOSED_ERROR"].includes(
      code,
    ) ||
    /ConnectionRefused|ECONNREFUSED|ECONNRESET|Unable to connect/.test(`${error.message} ${code}`);
  if (!isPassing) return undefined;
  return Object.assign(
    new DomainError("Service Unavailable", "The database cannot be reached right now"),
    { cause: error },
  );
}

/** Drizzle wraps what a query failed with; its caller gets the domain's error itself. */
async function ownError<Result>(call: () => PromiseLike<Result>): Promise<Result> {
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
