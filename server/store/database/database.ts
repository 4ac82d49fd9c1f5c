/**
 * The database: an embedded libSQL file, or a libSQL server.
 *
 * A file has one owner, one thread that writes it and, in the thread of the requests, connections
 * that only read. A write is one batch, never an interactive transaction, and each is conditional
 * in SQL, so it is exact on a file and on a server shared by many processes.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  createClient,
  type Client,
  type InStatement,
  type InValue,
  type ResultSet,
  type Row,
} from "@libsql/client";
import { drizzle, type LibSQLDatabase } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import pRetry from "p-retry";
import { DomainError } from "../../../core/errors.ts";
import { openJsonReader } from "./json-reader.ts";
import migrations from "../tables/migrations/meta/_journal.json" with { type: "json" };
import {
  isReadOnly,
  unwrapDrizzleError,
  wrapFileClient,
  isRolledBack,
  unwrapDomainErrors,
  mapTransientErrors,
} from "./errors.ts";
import type { Statement } from "./sqlite-connection.ts";
import { createSameFileAssertion } from "./file-identity.ts";
import { LOST_RESPONSE_RETRIES, openRemoteDatabase } from "./remote/remote-database.ts";
import { openFileWriter } from "./file-writer.ts";

/** Where the database is and what a commit survives. */
export interface DatabaseOptions {
  /** `file:`, `libsql://`, `http(s)://` or `ws(s)://`. */
  readonly url: string;
  readonly authToken?: string;
  /** `power`: a commit survives a power cut; `process`: the death of the process. */
  readonly durability: "power" | "process";
  /** How long a statement waits for a lock that another process holds; 5 seconds if left out. */
  readonly lockTimeoutMs?: number;
  /** Told when a server stops answering, with the reason, and when it answers again. */
  readonly onAvailabilityChange?: (failure: DomainError | undefined) => void;
}

/** How a write is done. */
export interface WriteOptions {
  /** Whether it survives only what the setting says; without it a power cut as well. */
  readonly hasConfiguredDurability?: boolean;
  /** Whether it does nothing more when it is done again, as what carries its own `uid` does. */
  readonly isIdempotent?: boolean;
  /** Whether it takes so little time that it may be done in the thread of the requests. */
  readonly isInline?: boolean;
}

/** An open database. */
export interface Database {
  /** Bytes of lines of observations that one transaction takes in, at most, about. */
  readonly transactionMaxBytes: number;
  /** Typed queries. A batch of them is one transaction. */
  readonly drizzle: LibSQLDatabase;
  /** Reads the rows of one statement. */
  queryRows(statement: InStatement): Promise<Row[]>;
  /**
   * Reads the one JSON text that a statement makes: the fastest way to many values. The statement
   * is kept, so its text must not vary without bound.
   */
  queryJson<Value>(sql: string, args: readonly (string | number)[]): Promise<Value | undefined>;
  /** Writes statements as one transaction: all or none. */
  write(statements: readonly Statement[], options?: WriteOptions): Promise<ResultSet[]>;
  /** Whether a write that failed so left nothing; else that is not known. */
  isRolledBack(error: unknown): boolean;
  /** Copies the whole database, as it is at one instant, into a new file. */
  copyTo(file: string): Promise<void>;
  /** Why a server is sent nothing; `undefined` while it is, and of a file. */
  getOutage(): DomainError | undefined;
  /** Opens all connections that it uses, so that no request needs file descriptors for them. */
  warmUp(): Promise<void>;
  /** Throws while it does not answer, or a file is not the one any more that was opened. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_LOCK_TIMEOUT_MS = 5000;

/** What makes a connection open all files that it reads. */
const WARM_UP_QUERY: Statement = { sql: "SELECT count(*) FROM sqlite_master", args: [] };

/** The path of the file that a URL names, or `undefined` where it names a server. */
export function parseFileUrl(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return decodeURIComponent(url.slice("file:".length).replace(/^\/\/(?=\/)/, ""));
}

/**
 * Opens the database, makes its folder and brings its tables up to date.
 *
 * @throws {DomainError} `Service Unavailable` when a server cannot be reached or a lock not had.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const file = parseFileUrl(options.url);
  const database =
    file === undefined ? openRemoteDatabase(options) : await openLocalDatabase(options, file);
  const migrationsFolder = join(import.meta.dir, "../tables/migrations");
  try {
    await assertMigrationsKnown(database);
    const runMigrations = () =>
      unwrapDomainErrors(() => migrate(database.drizzle, { migrationsFolder }));
    // Of several that start at once on a server, one does it; the others find it done then.
    await pRetry(runMigrations, {
      ...LOST_RESPONSE_RETRIES,
      shouldRetry: () => file === undefined,
    });
  } catch (error) {
    await database.close();
    throw unwrapDrizzleError(error);
  }
  return database;
}

/** Refuses a database with migrations that this version does not have. */
async function assertMigrationsKnown(database: Database): Promise<void> {
  const [table] = await database.queryRows(
    "SELECT name FROM sqlite_master WHERE name = '__drizzle_migrations'",
  );
  if (table === undefined) return;
  const applied = await database.queryRows("SELECT created_at FROM __drizzle_migrations");
  const knownMigrations = new Set(migrations.entries.map(({ when }) => when));
  const unknownMigrations = applied
    .map((row) => Number(row["created_at"]))
    .filter((createdAt) => !knownMigrations.has(createdAt));
  if (unknownMigrations.length === 0) return;
  const isNewer = Math.max(...unknownMigrations) > Math.max(...knownMigrations);
  throw new DomainError(
    "Conflict",
    isNewer
      ? "A newer version of this service made the tables of this database; start that version, " +
          "or restore a backup from before it"
      : "An unreleased version of this service made the tables of this database; export the " +
          "observations with that version, and import them into a new database",
  );
}

async function openLocalDatabase(options: DatabaseOptions, file: string): Promise<Database> {
  await mkdir(dirname(file), { recursive: true });
  const timeout = options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS;
  const isAlwaysSynced = options.durability === "power";
  const fileWriter = openFileWriter(file, timeout);
  // The file's first connection makes it one that readers and a writer can use at once.
  await mapTransientErrors(() => fileWriter.write([], { isSynced: true, isInline: false }));
  const assertSameFile = createSameFileAssertion(file);
  const runOnSameFile = <Result>(work: () => Promise<Result>) =>
    mapTransientErrors(() => {
      assertSameFile();
      return work();
    });
  const write: Database["write"] = (
    statements,
    { hasConfiguredDurability = false, isInline = false } = {},
  ) =>
    runOnSameFile(() =>
      fileWriter.write(statements, {
        isSynced: isAlwaysSynced || !hasConfiguredDurability,
        isInline,
      }),
    );
  const reader = await wrapFileClient(createClient({ url: options.url, concurrency: 1, timeout }), [
    "PRAGMA query_only = ON",
  ]);
  const jsonReader = openJsonReader(file, timeout);
  return {
    transactionMaxBytes: Number.POSITIVE_INFINITY,
    drizzle: drizzle(
      createRoutingClient(reader, write, (statements) =>
        runOnSameFile(() => fileWriter.readInBackground(statements)),
      ),
    ),
    queryRows: async (statement) => (await reader.execute(statement)).rows,
    queryJson: jsonReader.read,
    write,
    isRolledBack: isRolledBack,
    copyTo: (target) => runOnSameFile(() => fileWriter.copyTo(target)),
    getOutage: () => undefined,
    async warmUp() {
      await fileWriter.write([], { isSynced: false, isInline: true });
      await fileWriter.readInBackground([WARM_UP_QUERY]);
      await jsonReader.read(WARM_UP_QUERY.sql, []);
    },
    check: () => runOnSameFile(async () => void (await reader.execute("SELECT 1"))),
    async close() {
      jsonReader.close();
      reader.close();
      await fileWriter.close();
    },
  };
}

/**
 * A client whose queries go to the one connection and whose writes go to the other. A batch of
 * queries is one of many rows: it is read aside.
 */
function createRoutingClient(
  reader: Client,
  write: Database["write"],
  readInBackground: (statements: readonly Statement[]) => Promise<ResultSet[]>,
): Client {
  return {
    ...reader,
    execute: async (statement: InStatement) => {
      if (isReadOnly([statement])) return reader.execute(statement);
      const [result] = await write([toStatement(statement)]);
      if (result === undefined) throw new Error("The statement gave no result");
      return result;
    },
    batch: (statements: InStatement[]) =>
      isReadOnly(statements)
        ? readInBackground(statements.map(toStatement))
        : write(statements.map(toStatement)),
    migrate: (statements) => write(statements.map(toStatement)),
  };
}

function toStatement(statement: InStatement): Statement {
  if (typeof statement === "string") return { sql: statement, args: [] };
  const { sql, args = [] } = statement;
  if (!Array.isArray(args)) throw new TypeError("Arguments are given in order, not by name");
  return { sql, args: args.map(toSqlValue) };
}

/** A boolean is 1 or 0 to the database. */
function toSqlValue(value: InValue): InValue {
  return typeof value === "boolean" ? Number(value) : value;
}
