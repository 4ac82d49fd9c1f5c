/** This service, as its operator has it: databases made by its verbs, and `serve` as a process. */
import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Side, Workspace } from "./workspace.ts";

const MAIN = join(import.meta.dir, "../../server/main.ts");
const CREDITS = 1_000_000_000;

/** A database file, and a key with more credits than a run can spend. */
export interface Store {
  readonly file: string;
  readonly key: string;
}

/** The command of a verb. */
export function verb(...rest: readonly string[]): string[] {
  return [process.execPath, MAIN, ...rest];
}

/** The settings that name a database. */
export function settingsOf(file: string) {
  return { DATABASE_URL: `file:${file}` };
}

/** Makes a database with an account and a key. */
export async function makeStore(workspace: Workspace, name: string): Promise<Store> {
  const file = join(workspace.folder, `${name}.db`);
  const settings = settingsOf(file);
  await workspace.run(verb("accounts", "create", "bench", "--credits", String(CREDITS)), {
    settings,
  });
  const key = await workspace.run(verb("keys", "create", "bench"), { settings });
  return { file, key: key.trim() };
}

/** Copies a database that no process has open. */
export async function copyStore({ file, key }: Store, name: string): Promise<Store> {
  const copy = join(file, "..", `${name}.db`);
  await copyFile(file, copy);
  if (existsSync(`${file}-wal`)) await copyFile(`${file}-wal`, `${copy}-wal`);
  return { file: copy, key };
}

/** Starts the service on a database. */
export function startService(
  workspace: Workspace,
  { file }: Store,
  durability: "power" | "process" = "power",
): Promise<Side> {
  const settings = { ...settingsOf(file), PORT: "0", DURABILITY: durability, COLLECT: "off" };
  return workspace.start(verb("serve"), { settings });
}

/** Starts one of the programs that the service is compared with. */
export function startSide(
  workspace: Workspace,
  program: string,
  rest: readonly string[],
  stdin = "",
): Promise<Side> {
  const path = join(import.meta.dir, "sides", `${program}.ts`);
  return workspace.start([process.execPath, path, ...rest], { stdin });
}

/**
 * Asks for one answer.
 *
 * @throws Where its status is not 200.
 */
export async function answerOf({ origin }: Side, path: string, key: string): Promise<string> {
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
export function expectSame(name: string, ours: string, theirs: string): void {
  if (ours === theirs) return;
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const near = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  throw new Error(
    `${name} answers something else, from character ${at} on:\n` +
      `  the service: ${near(ours)}\n  ${name}: ${near(theirs)}`,
  );
}
