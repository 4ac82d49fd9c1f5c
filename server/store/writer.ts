/**
 * The way to the thread that writes. A process has one such thread for all of its database files;
 * it never holds the process up when nothing is being written.
 */
import { LibsqlError, type InValue, type ResultSet, type Row } from "@libsql/client";

/** A statement and its arguments, in order. */
export interface Statement {
  readonly sql: string;
  readonly args: InValue[];
}

/** What a statement did, as it crosses from thread to thread. */
export interface Written {
  readonly columns: string[];
  readonly rows: Row[0][][];
  /** Rows that were changed; 0 of a statement that gives rows. */
  readonly rowsAffected: number;
}

/** What the thread is asked. */
export type Order = { readonly id: number; readonly file: number } & Errand;

type Errand =
  | { readonly verb: "open"; readonly path: string; readonly lockTimeoutMs: number }
  | {
      readonly verb: "write";
      readonly statements: readonly Statement[];
      readonly isSynced: boolean;
    }
  | { readonly verb: "copy"; readonly target: string }
  | { readonly verb: "close" };

/** What the thread answers. */
export type Reply = { readonly id: number } & (
  | { readonly written: Written[] }
  | { readonly failure: { readonly message: string; readonly code: string } }
);

/** Writes a database file. */
export interface Writer {
  /**
   * Writes statements as one transaction: all or none.
   *
   * @param isSynced Whether the commit survives a power cut, not only the death of the process.
   */
  write(statements: readonly Statement[], isSynced: boolean): Promise<ResultSet[]>;
  /** Copies the database, as it is at one instant, into a new file. */
  copyTo(target: string): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(written: Written[]): void;
  reject(error: unknown): void;
}

const waiting = new Map<number, Waiting>();
let thread: Worker | undefined;
let lastId = 0;

/** Opens a file for writing. */
export async function openWriter(path: string, lockTimeoutMs: number): Promise<Writer> {
  const file = ++lastId;
  await send(file, { verb: "open", path, lockTimeoutMs });
  return {
    write: async (statements, isSynced) =>
      (await send(file, { verb: "write", statements, isSynced })).map(asResultSet),
    copyTo: async (target) => void (await send(file, { verb: "copy", target })),
    close: async () => void (await send(file, { verb: "close" })),
  };
}

function send(file: number, errand: Errand): Promise<Written[]> {
  return new Promise((resolve, reject) => {
    const id = ++lastId;
    thread ??= start();
    if (waiting.size === 0) thread.ref();
    waiting.set(id, { resolve, reject });
    const order = { id, file, ...errand } satisfies Order;
    // A small order crosses as text in a third of the time that an object takes.
    thread.postMessage(isSmall(order) ? JSON.stringify(order) : order);
  });
}

/** Characters of an order's arguments that make it worth sending as text. */
const SMALL_CHARACTERS = 10_000;

function isSmall(order: Order): boolean {
  if (order.verb !== "write") return true;
  let characters = 0;
  for (const { args } of order.statements) {
    for (const arg of args) if (typeof arg === "string") characters += arg.length;
  }
  return characters <= SMALL_CHARACTERS;
}

function start(): Worker {
  const started = new Worker(new URL("writer-thread.ts", import.meta.url).href);
  started.addEventListener("message", ({ data }: MessageEvent<string>) =>
    settle(started, JSON.parse(data)),
  );
  started.addEventListener("error", ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message));
    waiting.clear();
    if (thread === started) thread = undefined;
  });
  return started;
}

function settle(from: Worker, reply: Reply): void {
  const asked = waiting.get(reply.id);
  waiting.delete(reply.id);
  if (waiting.size === 0) from.unref();
  if ("written" in reply) asked?.resolve(reply.written);
  else asked?.reject(new LibsqlError(reply.failure.message, reply.failure.code));
}

function asResultSet({ columns, rows, rowsAffected }: Written): ResultSet {
  return {
    columns,
    columnTypes: [],
    rows: rows.map((values) => asRow(columns, values)),
    rowsAffected,
    lastInsertRowid: undefined,
    toJSON: () => ({ columns, rows, rowsAffected }),
  };
}

/** A row by name and, as the client gives it, by position too. */
function asRow(columns: readonly string[], values: readonly Row[0][]): Row {
  const row: Record<string, Row[0]> = {};
  columns.forEach((column, index) => {
    const value = values[index] ?? null;
    Object.defineProperty(row, index, { value });
    row[column] = value;
  });
  return Object.defineProperty(row, "length", { value: columns.length }) as unknown as Row;
}
