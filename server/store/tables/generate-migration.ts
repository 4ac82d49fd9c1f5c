/**
 * Writes the next migration from what changed in the tables: `bun run migration --name=WHAT`.
 *
 * drizzle-kit cannot express WITHOUT ROWID. This program adds it to each new table that has no
 * integer primary key: its rows then lie in the order of their key, and the key is stored once.
 * Of the snapshots only the newest is needed, to compute the next migration.
 */
import { readdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dir, "../../..");
const CREATE_TABLE = /^CREATE TABLE [^;]*\n\)(?=;)/gm;
const INTEGER_KEY = /integer PRIMARY KEY/;

/** Adds WITHOUT ROWID to the tables of a migration that have no integer primary key. */
function addWithoutRowid(migration: string): string {
  return migration.replace(CREATE_TABLE, (table) =>
    INTEGER_KEY.test(table) ? table : `${table} WITHOUT ROWID`,
  );
}

async function runDrizzleKit(folder: string, name: string | undefined): Promise<void> {
  const child = Bun.spawn(
    [
      process.execPath,
      join(ROOT, "node_modules/drizzle-kit/bin.cjs"),
      "generate",
      ...(name === undefined ? [] : [`--name=${name}`]),
    ],
    {
      cwd: ROOT,
      env: { ...process.env, MIGRATIONS_FOLDER: `./${relative(ROOT, folder)}` },
      stdio: ["inherit", "inherit", "inherit"],
    },
  );
  if ((await child.exited) !== 0) throw new Error("drizzle-kit failed");
}

/** Rewrites the files of a folder whose name has this end, in the order of their names. */
async function rewriteFiles(
  folder: string,
  suffix: string,
  rewrite: (text: string) => string,
): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(suffix)).toSorted();
  const paths = files.map((name) => join(folder, name));
  for (const path of paths) await Bun.write(path, rewrite(await Bun.file(path).text()));
  return paths;
}

const { values } = parseArgs({ options: { name: { type: "string" }, folder: { type: "string" } } });
const folder = values.folder ?? join(import.meta.dir, "migrations");
await runDrizzleKit(folder, values.name);
await rewriteFiles(folder, ".sql", addWithoutRowid);
const minify = (json: string) => `${JSON.stringify(JSON.parse(json))}\n`;
const snapshots = await rewriteFiles(join(folder, "meta"), "_snapshot.json", minify);
for (const path of snapshots.slice(0, -1)) await rm(path);
