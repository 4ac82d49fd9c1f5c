/** Runs Drizzle's typed queries on the connections of a database. */
import { DrizzleQueryError } from "drizzle-orm/errors";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import type { AccessMode, Database, Statement, StatementResult } from "./database.ts";

/** Creates the `query()` of a database. It throws the original error, which Drizzle wraps. */
export function createDrizzleQueries(runner: {
  execute(statement: Statement, access: AccessMode): Promise<StatementResult>;
  batch(statements: readonly Statement[], access: AccessMode): Promise<StatementResult[]>;
}): Database["query"] {
  const typedDatabase = drizzle(
    (sql, params) => runner.execute(toStatement(sql, params), isQuery(sql) ? "read" : "write"),
    (queries) =>
      runner.batch(
        queries.map(({ sql, params }) => toStatement(sql, params)),
        queries.every(({ sql }) => isQuery(sql)) ? "read" : "write",
      ),
  );
  return async (run) => {
    try {
      return await run(typedDatabase);
    } catch (error) {
      throw error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error;
    }
  };
}

const isQuery = (sql: string) => /^\s*(?:select|with)\b/i.test(sql);

/** SQLite has no booleans. */
const toStatement = (sql: string, params: Statement["args"]): Statement => ({
  sql,
  args: params.map((value) => (typeof value === "boolean" ? Number(value) : value)),
});
