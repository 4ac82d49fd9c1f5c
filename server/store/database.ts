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
import { DomainError } from "../../core/errors.ts";
import { openDocuments } from "./documents.ts";
import migrations from "./migrations/meta/_journal.json" with { type: "json" };
import {
  areQueries,
  causeOf,
  guardFile,
  isRolledBack,
  ownError,
  tellUnavailable,
} from "./guard.ts";
import type { Statement } from "./connection.ts";
import { holdToFile } from "./same-file.ts";
import { packRows } from "./upgrade.ts";
import { LOST_ANSWER_RETRIES, openServer } from "./server.ts";
import { openWriter } from "./writer.ts";

/** Where the database is and what a commit survives. */
export interface DatabaseOptions {
  /** `file:`, `libsql://`, `http(s)://` or `ws(s)://`. */
  readonly url: string;
  readonly authToken?: string;
  /** `power`: a commit survives a power cut; `process`: the death of the process. */
  readonly durability: "power" | "process";
  /** How long a statement waits for a lock that another process holds; 5 seconds if left out. */
  readonly lockTimeoutMs?: number;
  /** Told where the data of an earlier version is made that of this one, which can take a minute. */
  readonly onUpgrade?: () => void;
  /** Told when a server stops answering, with the reason, and when it answers again. */
  readonly onOutage?: (failure: DomainError | undefined) => void;
}

/** How a write is done. */
export interface WriteOptions {
  /** Whether it survives only what the setting says; without it a power cut as well. */
  readonly isRelaxed?: boolean;
  /** Whether it does nothing more when it is done again, as what carries its own `uid` does. */
  readonly isRepeatable?: boolean;
  /** Whether it takes so little time that it may be done in the thread of the requests. */
  readonly isQuick?: boolean;
}

/** An open database. */
export interface Database {
  /** Bytes of lines of observations that one transaction takes in, at most, about. */
  readonly blockBytes: number;
  /** Typed queries. A batch of them is one transaction. */
  readonly query: LibSQLDatabase;
  /** Reads the rows of one statement. */
  select(statement: InStatement): Promise<Row[]>;
  /**
   * Reads the one JSON text that a statement makes: the fastest way to many values. The statement
   * is kept, so its text must not vary without bound.
   */
  document<Value>(sql: string, args: readonly (string | number)[]): Promise<Value | undefined>;
  /** Writes statements as one transaction: all or none. */
  write(statements: readonly Statement[], options?: WriteOptions): Promise<ResultSet[]>;
  /** Whether a write that failed so left nothing; else that is not known. */
  leftNothing(error: unknown): boolean;
  /** Copies the whole database, as it is at one instant, into a new file. */
  copyTo(file: string): Promise<void>;
  /** Why a server is sent nothing; `undefined` while it is, and of a file. */
  outage(): DomainError | undefined;
  /** Opens all connections that it uses, so that no request needs file descriptors for them. */
  warmUp(): Promise<void>;
  /** Throws while it does not answer, or a file is not the one any more that was opened. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const LOCK_TIMEOUT_MS = 5000;

/** What makes a connection open all files that it reads. */
const FIRST_READ: Statement = { sql: "SELECT count(*) FROM sqlite_master", args: [] };

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
  const database = file === undefined ? openServer(options) : await openFile(options, file);
  const migrationsFolder = join(import.meta.dir, "migrations");
  try {
    const update = () => ownError(() => migrate(database.query, { migrationsFolder }));
    // Of several that start at once on a server, one does it; the others find it done then.
    await pRetry(update, { ...LOST_ANSWER_RETRIES, shouldRetry: () => file === undefined });
    await refuseNewer(database);
    await packRows(database, options.onUpgrade ?? (() => undefined));
  } catch (error) {
    await database.close();
    throw causeOf(error);
  }
  return database;
}

/** Refuses tables that a newer version made: what it means by them is not known here. */
async function refuseNewer(database: Database): Promise<void> {
  const [row] = await database.select("SELECT max(created_at) AS newest FROM __drizzle_migrations");
  const known = Math.max(...migrations.entries.map(({ when }) => when));
  if (Number(row?.["newest"]) <= known) return;
  throw new DomainError(
    "Conflict",
    "The database was brought up to date by a newer version of this; start that one, or restore a " +
      "backup from before",
  );
}

async function openFile(options: DatabaseOptions, file: string): Promise<Database> {
  await mkdir(dirname(file), { recursive: true });
  const timeout = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
  const isAlwaysSynced = options.durability === "power";
  const writer = openWriter(file, timeout);
  // The file's first connection makes it one that readers and a writer can use at once.
  await tellUnavailable(() => writer.write([], { isSynced: true, isQuick: false }));
  const requireFile = holdToFile(file);
  const held = <Result>(work: () => Promise<Result>) =>
    tellUnavailable(() => {
      requireFile();
      return work();
    });
  const write: Database["write"] = (statements, { isRelaxed = false, isQuick = false } = {}) =>
    held(() => writer.write(statements, { isSynced: isAlwaysSynced || !isRelaxed, isQuick }));
  const reader = await guardFile(createClient({ url: options.url, concurrency: 1, timeout }), [
    "PRAGMA query_only = ON",
  ]);
  const documents = openDocuments(file, timeout);
  return {
    blockBytes: Number.POSITIVE_INFINITY,
    query: drizzle(
      twoWayClient(reader, write, (statements) => held(() => writer.readAside(statements))),
    ),
    select: async (statement) => (await reader.execute(statement)).rows,
    document: documents.read,
    write,
    leftNothing: isRolledBack,
    copyTo: (target) => held(() => writer.copyTo(target)),
    outage: () => undefined,
    async warmUp() {
      await writer.write([], { isSynced: false, isQuick: true });
      await writer.readAside([FIRST_READ]);
      await documents.read(FIRST_READ.sql, []);
    },
    check: () => held(async () => void (await reader.execute("SELECT 1"))),
    async close() {
      documents.close();
      reader.close();
      await writer.close();
    },
  };
}

/**
 * A client whose queries go to the one connection and whose writes go to the other. A batch of
 * queries is one of many rows: it is read aside.
 */
function twoWayClient(
  reader: Client,
  write: Database["write"],
  readAside: (statements: readonly Statement[]) => Promise<ResultSet[]>,
): Client {
  return {
    ...reader,
    execute: async (statement: InStatement) => {
      if (areQueries([statement])) return reader.execute(statement);
      const [result] = await write([asStatement(statement)]);
      if (result === undefined) throw new Error("The statement gave no result");
      return result;
    },
    batch: (statements: InStatement[]) =>
      areQueries(statements)
        ? readAside(statements.map(asStatement))
        : write(statements.map(asStatement)),
    migrate: (statements) => write(statements.map(asStatement)),
  };
}

function asStatement(statement: InStatement): Statement {
  if (typeof statement === "string") return { sql: statement, args: [] };
  const { sql, args = [] } = statement;
  if (!Array.isArray(args)) throw new TypeError("Arguments are given in order, not by name");
  return { sql, args: args.map(asValue) };
}

/** A boolean is 1 or 0 to the database. */
function asValue(value: InValue): InValue {
  return typeof value === "boolean" ? Number(value) : value;
}
