/** Runs the service like an operator: its commands create the database, `serve` is a process. */
import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchServer, Workspace } from "./workspace.ts";

const MAIN_PATH = join(import.meta.dir, "../../server/main.ts");
const CREDITS = 1_000_000_000;

/** A database file, and a key with more credits than a run can use. */
export interface BenchDatabase {
  readonly file: string;
  readonly key: string;
}

/** The program and arguments of a command. */
export function verbCommand(...rest: readonly string[]): string[] {
  return [process.execPath, MAIN_PATH, ...rest];
}

/** The settings for a database. */
export function databaseSettings(file: string) {
  return { DATABASE_URL: `file:${file}` };
}

/** Creates a database with an account and a key. */
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

/** Starts the service with a database. */
export function startServiceProcess(
  workspace: Workspace,
  { file }: BenchDatabase,
  durability: "power" | "process" = "power",
): Promise<BenchServer> {
  const settings = { ...databaseSettings(file), PORT: "0", DURABILITY: durability, COLLECT: "off" };
  return workspace.start(verbCommand("serve"), { settings });
}

/** Starts a program that the service is compared with. */
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
 * Fetches one response.
 *
 * @throws {Error} If its status is not 200.
 */
export async function fetchAnswer(
  { origin }: BenchServer,
  path: string,
  key: string,
): Promise<string> {
  const response = await fetch(`${origin}${path}`, { headers: { "X-API-Key": key } });
  const body = await response.text();
  if (response.status !== 200)
    throw new Error(`${path} responded with ${response.status}: ${body}`);
  return body;
}

/**
 * Checks that two responses are the same, byte for byte.
 *
 * @throws {Error} With the place where they differ.
 */
export function assertSameAnswer(name: string, ours: string, theirs: string): void {
  if (ours === theirs) return;
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const near = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  throw new Error(
    `${name} differs from character ${at} on:\n` +
      `  the service: ${near(ours)}\n  ${name}: ${near(theirs)}`,
  );
}
