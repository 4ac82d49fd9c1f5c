/**
 * Writes the next migration from the changes of the tables: `bun run migration --name=WHAT`.
 *
 * drizzle-kit cannot express WITHOUT ROWID. This program adds it to each new table that has no
 * integer primary key: its rows then lie in the order of their key, and the key is stored once.
 * Nor can it express full-text tables and triggers, so the baseline ends with name-search.sql,
 * journal.sql and api-keys.sql. It keeps only the newest snapshot, which the next migration needs.
 */
import { readdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dir, "../../..");
const CREATE_TABLE = /^CREATE TABLE [^;]*\n\)(?=;)/gm;
const INTEGER_KEY = /integer PRIMARY KEY/;
const BREAKPOINT = "\n--> statement-breakpoint\n";
const sqlFiles = ["name-search.sql", "journal.sql", "api-keys.sql"].map((name) =>
  Bun.file(join(import.meta.dir, name)).text(),
);
const baselineEnd = (await Promise.all(sqlFiles)).join(BREAKPOINT.trimStart());

async function listFiles(folder: string, suffix: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(suffix));
  return names.toSorted().map((name) => join(folder, name));
}

const { values } = parseArgs({ options: { name: { type: "string" }, folder: { type: "string" } } });
const folder = values.folder ?? join(import.meta.dir, "migrations");
const drizzleKit = join(ROOT, "node_modules/drizzle-kit/bin.cjs");
const nameOption = values.name === undefined ? [] : [`--name=${values.name}`];
const child = Bun.spawn([process.execPath, drizzleKit, "generate", ...nameOption], {
  cwd: ROOT,
  env: { ...process.env, MIGRATIONS_FOLDER: `./${relative(ROOT, folder)}` },
  stdio: ["inherit", "inherit", "inherit"],
});
if ((await child.exited) !== 0) throw new Error("drizzle-kit failed");
for (const path of await listFiles(folder, ".sql")) {
  const migration = await Bun.file(path).text();
  const withoutRowid = migration.replace(CREATE_TABLE, (table) =>
    INTEGER_KEY.test(table) ? table : `${table} WITHOUT ROWID`,
  );
  const isNewBaseline =
    /^CREATE TABLE `channels`/m.test(migration) && !migration.includes(baselineEnd);
  await Bun.write(path, isNewBaseline ? withoutRowid + BREAKPOINT + baselineEnd : withoutRowid);
}
const snapshots = await listFiles(join(folder, "meta"), "_snapshot.json");
for (const path of snapshots.slice(0, -1)) await rm(path);
const newest = snapshots.at(-1);
if (newest !== undefined) {
  await Bun.write(newest, `${JSON.stringify(await Bun.file(newest).json())}\n`);
}
