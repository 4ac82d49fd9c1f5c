/**
 * Writes the next migration from the changes of the tables: `bun run migration --name=WHAT`.
 *
 * drizzle-kit cannot express WITHOUT ROWID. This program adds it to each new table that has no
 * integer primary key: its rows then lie in the order of their key, and the key is stored once.
 * Nor can it express full-text tables and triggers, with which the first migration ends.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { accountTables } from "./account-tables.ts";
import { adminTokens, audit } from "./administration-tables.ts";
import { collectionTables } from "./collection-tables.ts";
import { entityTables } from "./entity-tables.ts";

const BREAKPOINT = "--> statement-breakpoint\n";
const TABLES = { ...accountTables, adminTokens, audit, ...collectionTables, ...entityTables };

const { values } = parseArgs({
  options: {
    name: { type: "string", default: "changes" },
    folder: { type: "string", default: join(import.meta.dir, "migrations") },
  },
});
const journalFile = Bun.file(join(values.folder, "meta/_journal.json"));
/** The tables after the newest migration. */
const snapshotFile = Bun.file(join(values.folder, "meta/snapshot.json"));
const isFirst = !(await snapshotFile.exists());

const previous = isFirst ? await generateSQLiteDrizzleJson({}) : await snapshotFile.json();
const snapshot = await generateSQLiteDrizzleJson(TABLES, previous.id);
const changes = await generateSQLiteMigration(previous, snapshot);
if (changes.length === 0) console.log("No schema changes, nothing to migrate");
else await writeMigration(changes.map(addWithoutRowid));

function addWithoutRowid(statement: string): string {
  return statement.includes("integer PRIMARY KEY")
    ? statement
    : statement.replace(/^(CREATE TABLE [^;]*\n\))(?=;)/, "$1 WITHOUT ROWID");
}

async function writeMigration(statements: readonly string[]): Promise<void> {
  const journal = isFirst
    ? { version: "7", dialect: "sqlite", entries: [] }
    : await journalFile.json();
  const idx = journal.entries.length;
  const tag = `${String(idx).padStart(4, "0")}_${values.name}`;
  journal.entries.push({ idx, version: "6", when: Date.now(), tag, breakpoints: true });
  const end = isFirst
    ? ["\n", await readSql("name-search.sql"), await readSql("low-balance.sql")]
    : [];
  await Bun.write(
    join(values.folder, `${tag}.sql`),
    statements.join(BREAKPOINT) + end.join(BREAKPOINT),
  );
  await Bun.write(snapshotFile, `${JSON.stringify(snapshot)}\n`);
  await Bun.write(journalFile, JSON.stringify(journal, undefined, 2));
  console.log(`Wrote ${tag}.sql`);
}

function readSql(name: string): Promise<string> {
  return Bun.file(join(import.meta.dir, name)).text();
}
