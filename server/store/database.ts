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

/** How long a statement waits for a lock that another process holds. */
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
    ...(file === undefined ? {} : { concurrency: 1, timeout: LOCK_TIMEOUT_MS }),
  });
  const pragmas =
    file === undefined
      ? []
      : [
          "PRAGMA journal_mode = WAL",
          `PRAGMA synchronous = ${options.durability === "power" ? "FULL" : "NORMAL"}`,
        ];
  const guarded = guardClient(client, pragmas);
  await guarded.prepare();
  const query = drizzle(guarded.client);
  await migrate(query, { migrationsFolder: join(import.meta.dir, "migrations") });
  return {
    query,
    select: async (statement) => (await guarded.client.execute(statement)).rows,
    write: (statements) => guarded.client.batch([...statements], "write"),
    copyTo: async (target) => {
      await guarded.client.execute({ sql: "VACUUM INTO ?", args: [target] });
    },
    close: () => client.close(),
  };
}

/**
 * Wraps a client so that a lock that could not be had closes the connection before its next use,
 * and so that a batch of anything but queries takes its lock at once.
 */
function guardClient(client: Client, pragmas: readonly string[]) {
  const prepare = async () => {
    for (const pragma of pragmas) await client.execute(pragma);
  };
  async function guard<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await call();
    } catch (error) {
      const unavailable = asUnavailable(error);
      if (unavailable === undefined) throw error;
      if (pragmas.length > 0) {
        client.reconnect();
        await prepare();
      }
      throw unavailable;
    }
  }
  const guardedClient: Client = {
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
  return { client: guardedClient, prepare: () => guard(prepare) };
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
