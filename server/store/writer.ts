/**
 * Writes database files: what is short at once, all else in a thread of its own, of which a process
 * has one for all its files. It never holds the process up when nothing is being written.
 */
import { LibsqlError, type ResultSet, type Row } from "@libsql/client";
import type { Statement, Written } from "./connection.ts";
import { openQuickWriter } from "./quick.ts";
import { openThread, ThreadError } from "./thread.ts";

/** A file that is open for writing. */
interface OpenFile {
  readonly id: number;
  readonly path: string;
  /** How long a write waits for a lock that another process holds. */
  readonly lockTimeoutMs: number;
}

/** What the thread is asked. */
export type Order = { readonly file: OpenFile } & Errand;

type Errand =
  | {
      readonly verb: "write";
      readonly statements: readonly Statement[];
      readonly isSynced: boolean;
    }
  | { readonly verb: "read"; readonly statements: readonly Statement[] }
  | { readonly verb: "copy"; readonly target: string }
  | { readonly verb: "checkpoint" | "close" };

/** How statements are written. */
export interface WriteMode {
  /** Whether the commit survives a power cut, not only the death of the process. */
  readonly isSynced: boolean;
  /** Whether they take so little time that they may hold up the requests. */
  readonly isQuick: boolean;
}

/** Writes a database file. */
export interface Writer {
  /** Writes statements as one transaction: all or none; in the order in which this is called. */
  write(statements: readonly Statement[], mode: WriteMode): Promise<ResultSet[]>;
  /** Reads at one instant, for as long as it takes: it holds up neither requests nor writes. */
  readAside(statements: readonly Statement[]): Promise<ResultSet[]>;
  /** Copies the database, as it is at one instant, into a new file; it holds up nothing either. */
  copyTo(target: string): Promise<void>;
  close(): Promise<void>;
}

const askThread = openThread<Order, Written[]>(new URL("writer-thread.ts", import.meta.url));
/** Another for what only reads, and long. */
const askAside = openThread<Order, Written[]>(new URL("writer-thread.ts", import.meta.url));
let lastFile = 0;

/** Opens a file for writing. */
export function openWriter(path: string, lockTimeoutMs: number): Writer {
  const file: OpenFile = { id: ++lastFile, path, lockTimeoutMs };
  /** Errands of the file that the thread has not done. */
  let pending = 0;
  const quick = openQuickWriter(path, () => {
    order({ verb: "checkpoint" }).catch(() => undefined); // The next one does it all.
  });

  async function order(errand: Errand): Promise<Written[]> {
    pending++;
    try {
      const given = { file, ...errand };
      // A small order crosses as text in a third of the time that an object takes.
      return await askThread(given, { isText: isSmall(given) }).catch(asLibsqlError);
    } finally {
      pending--;
    }
  }

  let isAsideOpen = false;
  const aside = (errand: Errand) => {
    isAsideOpen = true;
    return askAside({ file, ...errand }, { isText: true }).catch(asLibsqlError);
  };

  return {
    async write(statements, { isSynced, isQuick }) {
      // While the thread has something to write, or another process writes, it has to wait its turn.
      const written = isQuick && pending === 0 ? quick.write(statements) : undefined;
      if (written === undefined) {
        return (await order({ verb: "write", statements, isSynced })).map(asResultSet);
      }
      if (isSynced) await quick.sync();
      return written.map(asResultSet);
    },
    readAside: async (statements) => (await aside({ verb: "read", statements })).map(asResultSet),
    copyTo: async (target) => void (await aside({ verb: "copy", target })),
    async close() {
      quick.close();
      if (isAsideOpen) await aside({ verb: "close" });
      await order({ verb: "close" });
    },
  };
}

function asLibsqlError(error: unknown): never {
  if (error instanceof ThreadError) throw new LibsqlError(error.message, error.code);
  throw error;
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
