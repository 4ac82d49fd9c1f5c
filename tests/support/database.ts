/** A database of its own for a test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type Database } from "../../server/store/database.ts";

/** Opens a new database file, lets a test work on it, and removes it. */
export async function withDatabase<Result>(
  work: (database: Database, file: string) => Promise<Result>,
  durability: "power" | "process" = "process",
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "database-"));
  const file = join(folder, "metrics.db");
  const database = await openDatabase({ url: `file:${file}`, durability });
  try {
    return await work(database, file);
  } finally {
    database.close();
    await rm(folder, { recursive: true, force: true });
  }
}
