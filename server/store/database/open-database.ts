/** Opens a database, refuses unknown tables, and brings its own tables up to date. */
import { copyServer } from "./backup/server-copy.ts";
import type { Database, DatabaseOptions } from "./database.ts";
import { openLocalDatabase } from "./local-database.ts";
import { migrateTables } from "./migrate.ts";
import { openRemoteDatabase } from "./remote/remote-database.ts";

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const file = parseFileUrl(options.url);
  const database = await (file === undefined
    ? openServerDatabase(options)
    : openLocalDatabase(options, file));
  try {
    await migrateTables(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function openServerDatabase(options: DatabaseOptions): Promise<Database> {
  const database = await openRemoteDatabase(options);
  return { ...database, copyTo: (file) => copyServer(options, database, file) };
}

export function parseFileUrl(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  return decodeURIComponent(url.slice("file:".length).replace(/^\/\/(?=\/)/, ""));
}
