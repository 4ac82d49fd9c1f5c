/** Reads all pages of a database, to find damage. */
import { sql } from "drizzle-orm";
import type { Database } from "../database/database.ts";

/** A batch of queries runs in the background. @throws {Error} With the first damage. */
export async function checkIntegrity({ query }: Pick<Database, "query">): Promise<void> {
  const select = sql`SELECT integrity_check AS verdict FROM pragma_integrity_check LIMIT 1`;
  const [[row]] = await query((drizzle) =>
    drizzle.batch([drizzle.all<{ verdict: string }>(select)]),
  );
  const verdict = String(row?.verdict);
  if (verdict === "ok") return;
  const error = new Error(`The database is damaged: ${verdict.split("\n").at(-1)}`);
  throw Object.assign(error, { code: "SQLITE_CORRUPT" });
}
