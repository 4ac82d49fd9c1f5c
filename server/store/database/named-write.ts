/** Runs a transaction whose results are read by name. */
import type { Row } from "@libsql/client";
import type { Database, Statement, WriteOptions } from "./database.ts";

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
