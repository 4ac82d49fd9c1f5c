/** Runs a transaction whose results are read by name. */
import type { Row } from "@libsql/client";
import type { Database, Statement, WriteOptions } from "./database.ts";

/**
 * Runs named statements as one transaction, in the order of the object's members.
 *
 * @returns The rows of each statement, under its name.
 */
export async function writeNamed<
  Statements extends object & { [Name in keyof Statements]?: Statement },
>(
  database: Database,
  statements: Statements,
  options?: WriteOptions,
): Promise<{ [Name in keyof Statements]: readonly Row[] }> {
  const entries: [string, Statement][] = Object.entries(statements);
  const results = await database.write(
    entries.map(([, statement]) => statement),
    options,
  );
  const rows = entries.map(([name], index) => [name, results[index]?.rows ?? []]);
  return Object.fromEntries(rows);
}
