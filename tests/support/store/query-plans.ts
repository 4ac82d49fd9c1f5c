/** Records the statements of a database, and reads the query plans of SQLite. */
import type { Database, Statement } from "../../../server/store/database/database.ts";

/** Records every statement that a database gets from now on. */
export function recordStatements(database: Database) {
  const statements: Statement[] = [];
  const recording: Database = {
    ...database,
    queryRows(statement) {
      statements.push(typeof statement === "string" ? { sql: statement, args: [] } : statement);
      return database.queryRows(statement);
    },
    queryJson(sql, args) {
      statements.push({ sql, args: [...args] });
      return database.queryJson(sql, args);
    },
    write(given, options) {
      statements.push(...given);
      return database.write(given, options);
    },
  };
  return { recording, statements };
}

/** The query plan of a statement: a line for each table that SQLite scans or searches. */
export async function explainQueryPlan(
  database: Database,
  statement: Statement,
): Promise<string[]> {
  const { sql, args } = statement;
  const rows = await database.queryRows({ sql: `EXPLAIN QUERY PLAN ${sql}`, args });
  return rows.map((row) => String(row["detail"]));
}

/** The tables that a plan scans; arguments and intermediate results are left out. */
export function findScans(plan: readonly string[]): string[] {
  return plan.filter(
    (line) =>
      /^SCAN (?!CONSTANT ROW|(?:named|page|changed_tags|ends)\b|\()/.test(line) &&
      !/VIRTUAL/.test(line),
  );
}
