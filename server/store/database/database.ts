/** The interface of a database, either a file or a libSQL server, its options and named writes. */
import type { InValue, Row } from "@libsql/client";
import type { SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import type { DomainError } from "../../../core/errors.ts";

export interface DatabaseOptions {
  /** `file:`, `libsql://`, `http(s)://` or `ws(s)://`. */
  readonly url: string;
  readonly authToken?: string | undefined;
  /** The failure that commits survive; `power` refuses a server that does not sync them. */
  readonly durability: "power" | "process";
  /** How long a statement waits for a lock that another process holds; 5 seconds by default. */
  readonly lockTimeoutMs?: number;
  /**
   * After how many short writes, or rows that longer writes change, the write-ahead log of a file
   * is moved into it: 600 by default, which takes about 5 ms after an import. Tests set it lower.
   */
  readonly checkpointInterval?: number;
  /** Called with the reason when a server stops answering, without one when it answers again. */
  readonly onAvailabilityChange?: (failure: DomainError | undefined) => void;
  /** Called once, when a newer version of the service has made the tables on a server. */
  readonly onNewerTables?: () => void;
}

export interface Statement {
  readonly sql: string;
  readonly args: InValue[];
}

export interface StatementResult {
  readonly rows: Row[];
  /** How many rows were changed; 0 for a statement that returns rows. */
  readonly rowsAffected: number;
}

/** Whether statements only read; writing statements take the write lock at once. */
export type AccessMode = "read" | "write";

export interface WriteOptions {
  /**
   * What the commit survives: a power cut (`power`, the default), until `sync()` only the death of
   * the process (`process`), or what the database was opened with (`configured`).
   */
  readonly durability?: "power" | "configured" | "process";
  /** A second run changes nothing, so the write is retried when a server's response is lost. */
  readonly idempotent?: boolean;
  /** The write is short enough for the thread that serves requests. */
  readonly inline?: boolean;
  /** The statements fail by themselves if a newer version of the service made the tables. */
  readonly isVersionChecked?: boolean;
}

/** What a database file takes, and what this process did with it. Sizes are in bytes. */
export interface FileUse {
  readonly fileBytes: number;
  /** The size of the write-ahead log. */
  readonly logBytes: number;
  /** What the file system has left for users without privileges. */
  readonly freeBytes: number;
  /** How often commits were synced to the disk, and checkpoints made. */
  readonly syncs: number;
  readonly checkpoints: number;
}

export interface Database {
  /** About how many bytes of observation lines one transaction stores at most. */
  readonly transactionMaxBytes: number;
  /** Runs typed queries; a batch of them is one transaction. Throws the error of a failed query. */
  query<Result>(run: (drizzle: SqliteRemoteDatabase) => PromiseLike<Result>): Promise<Result>;
  queryRows(statement: Statement | string): Promise<Row[]>;
  /**
   * Reads and parses the one JSON text that a statement returns, the fastest way to read many
   * values; `undefined` if there is no row. The statement stays prepared: its text must not vary
   * without bound.
   */
  queryJson<Value>(
    sql: string,
    args: readonly (string | number | null)[],
  ): Promise<Value | undefined>;
  /**
   * Runs statements as one transaction, all or none. There are no interactive transactions: each
   * statement carries its own condition, so that it is exact when many processes share a server.
   */
  write(statements: readonly Statement[], options?: WriteOptions): Promise<StatementResult[]>;
  /** Resolves once all commits so far are as durable as the option of the database says. */
  sync(): Promise<void>;
  /** Whether a write that failed with this error stored nothing; `false` if that is not known. */
  isRolledBack(error: unknown): boolean;
  /** Copies the whole database, as it is at one instant, into a new file. */
  copyTo(file: string): Promise<void>;
  /** Finds out in the background whether a server answers. Calls that take long do so, too. */
  probe(): void;
  /** Why no call is sent to a server; `undefined` while it answers, and for a file. */
  getOutage(): DomainError | undefined;
  /** Reads what a file takes and what was done with it; `undefined` for a server. */
  readFileUse(): Promise<FileUse | undefined>;
  /** Opens all connections, so that no request needs file descriptors for them. */
  warmUp(): Promise<void>;
  /** Throws if a server does not answer, or if another file took the place of the opened one. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The reads of metrics, which a replica can do, too. */
export type DatabaseReads = Pick<Database, "queryRows" | "queryJson">;

/** Runs statements in the order of the object's members; returns the rows of each, by its name. */
export async function writeNamed<
  Statements extends object & { [Name in keyof Statements]?: Statement },
>(
  database: Database,
  statements: Statements,
  options?: WriteOptions,
): Promise<{ [Name in keyof Statements]: readonly Row[] }> {
  const results = await database.write(Object.values(statements), options);
  const names = Object.keys(statements);
  const rows = names.map((name, index) => [name, results[index]?.rows ?? []]);
  return Object.fromEntries(rows);
}
