/** This service, as its operator has it: databases made by its verbs, and `serve` as a process. */
import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchServer, Workspace } from "./workspace.ts";

const MAIN_PATH = join(import.meta.dir, "../../server/main.ts");
const CREDITS = 1_000_000_000;

/** A database file, and a key with more credits than a run can spend. */
export interface BenchDatabase {
  readonly file: string;
  readonly key: string;
}

/** The command of a verb. */
export function verbCommand(...rest: readonly string[]): string[] {
  return [process.execPath, MAIN_PATH, ...rest];
}

/** The settings that name a database. */
export function databaseSettings(file: string) {
  return { DATABASE_URL: `file:${file}` };
}

/** Makes a database with an account and a key. */
export async function createBenchDatabase(
  workspace: Workspace,
  name: string,
): Promise<BenchDatabase> {
  const file = join(workspace.folder, `${name}.db`);
  const settings = databaseSettings(file);
  await workspace.run(verbCommand("accounts", "create", "bench", "--credits", String(CREDITS)), {
    settings,
  });
  const key = await workspace.run(verbCommand("keys", "create", "bench"), { settings });
  return { file, key: key.trim() };
}

/** Copies a database that no process has open. */
export async function copyBenchDatabase(
  { file, key }: BenchDatabase,
  name: string,
): Promise<BenchDatabase> {
  const copy = join(file, "..", `${name}.db`);
  await copyFile(file, copy);
  if (existsSync(`${file}-wal`)) await copyFile(`${file}-wal`, `${copy}-wal`);
  return { file: copy, key };
}

/** Starts the service on a database. */
export function startServiceProcess(
  workspace: Workspace,
  { file }: BenchDatabase,
  durability: "power" | "process" = "power",
): Promise<BenchServer> {
  const settings = { ...databaseSettings(file), PORT: "0", DURABILITY: durability, COLLECT: "off" };
  return workspace.start(verbCommand("serve"), { settings });
}

/** Starts one of the programs that the service is compared with. */
export function startBaseline(
  workspace: Workspace,
  program: string,
  rest: readonly string[],
  stdin = "",
): Promise<BenchServer> {
  const path = join(import.meta.dir, "programs", `${program}.ts`);
  return workspace.start([process.execPath, path, ...rest], { stdin });
}

/**
 * Asks for one answer.
 *
 * @throws Where its status is not 200.
 */
export async function fetchAnswer(
  { origin }: BenchServer,
  path: string,
  key: string,
): Promise<string> {
  const response = await fetch(`${origin}${path}`, { headers: { "X-API-Key": key } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${body}`);
  return body;
}

/**
 * Holds two answers to be the same, byte for byte.
 *
 * @throws Telling where they differ.
 */
export function assertSameAnswer(name: string, ours: string, theirs: string): void {
  if (ours === theirs) return;
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const near = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  throw new Error(
    `${name} answers something else, from character ${at} on:\n` +
      `  the service: ${near(ours)}\n  ${name}: ${near(theirs)}`,
  );
}
