/** Copies two databases into one file: the ledger's tables from one, all others from the other. */
import { join } from "node:path";
import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import * as accountTables from "../../tables/account-tables.ts";
import * as administrationTables from "../../tables/administration-tables.ts";
import * as collectionTables from "../../tables/collection-tables.ts";
import * as roleTables from "../../tables/role-tables.ts";
import type { Database, Statement } from "../database.ts";
import { runOnScratchFile, withScratchFolder } from "./scratch-files.ts";

/** All but what is observed. Both databases have all tables, and each uses its own. */
export const LEDGER_TABLES: readonly string[] = [
  accountTables,
  administrationTables,
  collectionTables,
  roleTables,
]
  .flatMap((tables): unknown[] => Object.values(tables))
  .filter((value) => is(value, SQLiteTable))
  .map(getTableName);

const SELECT_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'";

/** @param target A file that does not exist, or is empty. A folder beside it has the two copies. */
export function copyMerged(
  { ledger, entities }: Readonly<Record<"ledger" | "entities", Pick<Database, "copyTo">>>,
  target: string,
): Promise<void> {
  const folder = `${target}-merge`;
  return withScratchFolder(folder, async () => {
    const [ledgerFile, file] = [join(folder, "ledger.db"), join(folder, "entities.db")];
    // The ledger is copied first: so it knows no change that the entities do not have.
    await ledger.copyTo(ledgerFile);
    await entities.copyTo(file);
    const [found] = await runOnScratchFile({ file, statements: [toStatement(SELECT_TRIGGERS)] });
    const triggers = found?.rows ?? [];
    const statements = [
      { sql: "ATTACH ? AS ledger", args: [ledgerFile] },
      // A trigger would apply each entry of the journal once more.
      ...triggers.map(({ name }) => toStatement(`DROP TRIGGER ${name}`)),
      ...LEDGER_TABLES.flatMap((table) => [
        toStatement(`DELETE FROM main.${table}`),
        toStatement(`INSERT INTO main.${table} SELECT * FROM ledger.${table}`),
      ]),
      ...triggers.map(({ sql }) => toStatement(String(sql))),
    ];
    await runOnScratchFile({ file, statements, target });
  });
}

const toStatement = (sql: string): Statement => ({ sql, args: [] });
