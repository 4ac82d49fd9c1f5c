/** Typed queries: Drizzle on the connections of a database. */
import type { Client, ResultSet } from "@libsql/client";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { drizzle } from "drizzle-orm/libsql";
import type { Database, Statement } from "./database.ts";

/** Whether statements only read; others take the write lock at once. */
export type AccessMode = "read" | "write";

/** How the statements that Drizzle generates are run. */
interface StatementRunner {
  execute(statement: Statement, mode: AccessMode): Promise<ResultSet>;
  /** Runs statements as one transaction. */
  batch(statements: readonly Statement[], mode: AccessMode): Promise<ResultSet[]>;
}

/** Creates the `query()` of a database. It throws the original error, which Drizzle wraps. */
export function createDrizzleQueries(runner: StatementRunner): Database["query"] {
  const typedDatabase = drizzle(createClient(runner));
  return async (run) => {
    try {
      return await run(typedDatabase);
    } catch (error) {
      throw error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
    }
  };
}

/** The part of a libSQL client that Drizzle uses. An interactive transaction would hold the lock. */
function createClient({ execute, batch }: StatementRunner): Client {
  const rejectCall = () => Promise.reject(new Error("Only statements and batches are supported"));
  const runBatch = (given: readonly GivenStatement[]) => {
    const statements = given.map(toStatement);
    return batch(statements, statements.every(isQuery) ? "read" : "write");
  };
  return {
    protocol: "file",
    closed: false,
    execute: (given: GivenStatement) => {
      const statement = toStatement(given);
      return execute(statement, isQuery(statement) ? "read" : "write");
    },
    batch: runBatch,
    migrate: runBatch,
    executeMultiple: rejectCall,
    transaction: rejectCall,
    sync: rejectCall,
    reconnect: () => undefined,
    close: () => undefined,
  };
}

function isQuery({ sql }: Statement): boolean {
  return /^\s*(?:select|with)\b/i.test(sql);
}

type GivenStatement = Parameters<Client["batch"]>[0][number];

function toStatement(given: GivenStatement): Statement {
  if (typeof given === "string") return { sql: given, args: [] };
  const { sql, args = [] } = Array.isArray(given) ? { sql: given[0], args: given[1] } : given;
  if (!Array.isArray(args)) throw new TypeError("Arguments must be positional");
  // SQLite has no booleans.
  return { sql, args: args.map((value) => (typeof value === "boolean" ? Number(value) : value)) };
}
