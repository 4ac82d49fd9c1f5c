/**
 * The thread that writes database files: what it commits is synced while the requests go on.
 *
 * It speaks the client's own driver, whose statements can be kept. A transaction takes its lock
 * at once; a connection that could not have it is opened anew, because the driver acknowledges
 * writes on such a connection that it never stores.
 */
import type { InValue } from "@libsql/client";
import Driver from "libsql";
import type { Order, Reply, Written } from "./writer.ts";

declare const self: Worker;

/** A file that is open for writing. */
interface Opened {
  readonly path: string;
  readonly lockTimeoutMs: number;
  connection: Connection | undefined;
}

interface Connection {
  readonly driver: Driver.Database;
  readonly statements: Map<string, Prepared>;
  isSynced: boolean | undefined;
}

interface Prepared {
  readonly statement: Driver.Statement;
  /** Those of what it reads; none of what only writes. */
  readonly columns: string[];
}

/** Kept statements of a file at most. */
const STATEMENTS_MAX = 200;

const files = new Map<number, Opened>();

self.addEventListener("message", ({ data }: MessageEvent<string | Order>) => {
  const order: Order = typeof data === "string" ? JSON.parse(data) : data;
  self.postMessage(JSON.stringify(obey(order)));
});

function obey(order: Order): Reply {
  try {
    return { id: order.id, written: work(order) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN";
    const file = files.get(order.file);
    if (file !== undefined && /^SQLITE_(?:BUSY|LOCKED)/.test(code)) disconnect(file);
    const message = error instanceof Error ? error.message : String(error);
    return { id: order.id, failure: { message, code } };
  }
}

function work(order: Order): Written[] {
  if (order.verb === "open") {
    const { path, lockTimeoutMs } = order;
    files.set(order.file, { path, lockTimeoutMs, connection: undefined });
    return [];
  }
  const file = files.get(order.file);
  if (file === undefined) throw new Error("The database is closed");
  if (order.verb === "close") {
    files.delete(order.file);
    // What is written so far goes into the file itself, as far as nobody else reads it.
    file.connection?.driver.pragma("wal_checkpoint(TRUNCATE)");
    disconnect(file);
    return [];
  }
  const connection = (file.connection ??= connect(file));
  if (order.verb === "copy") {
    connection.driver.prepare("VACUUM INTO ?").run([order.target]);
    return [];
  }
  return write(connection, order);
}

function connect({ path, lockTimeoutMs }: Opened): Connection {
  const driver = new Driver(path, { timeout: lockTimeoutMs });
  driver.pragma("journal_mode = WAL");
  return { driver, statements: new Map(), isSynced: undefined };
}

function disconnect(file: Opened): void {
  file.connection?.statements.clear();
  file.connection?.driver.close();
  file.connection = undefined;
}

/** Writes statements as one transaction: all or none. */
function write(
  connection: Connection,
  { statements, isSynced }: Extract<Order, { verb: "write" }>,
): Written[] {
  const { driver } = connection;
  if (connection.isSynced !== isSynced) {
    driver.exec(`PRAGMA synchronous = ${isSynced ? "FULL" : "NORMAL"}`);
    connection.isSynced = isSynced;
  }
  run(connection, "BEGIN IMMEDIATE", []);
  try {
    const written = statements.map(({ sql, args }) => run(connection, sql, args));
    run(connection, "COMMIT", []);
    return written;
  } catch (error) {
    if (driver.inTransaction) driver.exec("ROLLBACK");
    throw error;
  }
}

function run(connection: Connection, sql: string, args: InValue[]): Written {
  const { statement, columns } = prepare(connection, sql);
  if (columns.length === 0) {
    return { columns, rows: [], rowsAffected: statement.run(args).changes };
  }
  return { columns, rows: statement.all(args) as Written["rows"], rowsAffected: 0 };
}

function prepare({ driver, statements }: Connection, sql: string): Prepared {
  const kept = statements.get(sql);
  if (kept !== undefined) return kept;
  if (statements.size >= STATEMENTS_MAX) statements.clear();
  const statement = driver.prepare(sql);
  const prepared = statement.reader
    ? { statement: statement.raw(true), columns: statement.columns().map(({ name }) => name) }
    : { statement, columns: [] };
  statements.set(sql, prepared);
  return prepared;
}
