/**
 * `bun run compat`: installs the packed core as its users do, and checks it in every runtime, with
 * both compilers and with linters. Prints a table. Exits with 1 if a check fails.
 */
import { listChecks, type Check } from "./checks.ts";
import { runCommand } from "./command.ts";
import { installPackage, type InstalledPackage } from "./installed-package.ts";

/** Checks at a time. */
const CONCURRENCY = 2;

interface Outcome {
  readonly status: "ok" | "skipped" | "FAILED";
  readonly detail: string;
  readonly seconds: number;
}

const NOT_RUN: Outcome = { status: "FAILED", detail: "did not run", seconds: 0 };

/** @returns Why the tools cannot be downloaded, or `undefined` if they are there. */
async function installTools(): Promise<string | undefined> {
  try {
    await runCommand([process.execPath, "install", "--frozen-lockfile"], import.meta.dir);
    return undefined;
  } catch (error) {
    // Bun writes, for example, "ConnectionRefused downloading tarball …".
    const [, reason] = /^\w+: (\w+ downloading .*)/m.exec(String(error)) ?? [];
    if (reason === undefined) throw error;
    return reason;
  }
}

async function runCheck(
  check: Check,
  installed: InstalledPackage,
  toolsMissing: string | undefined,
): Promise<Outcome> {
  const missing = check.missing ?? (check.needsTools ? toolsMissing : undefined);
  if (missing !== undefined) return { status: "skipped", detail: missing, seconds: 0 };
  const startedMs = performance.now();
  const seconds = () => (performance.now() - startedMs) / 1000;
  try {
    return { status: "ok", detail: await check.run(installed), seconds: seconds() };
  } catch (error) {
    process.stderr.write(`\n${check.name}: ${error instanceof Error ? error.message : error}\n`);
    return { status: "FAILED", detail: "see above", seconds: seconds() };
  }
}

const toolsMissing = await installTools();
const checks = await listChecks();
const installed = await installPackage();
const outcomes = new Map<Check, Outcome>();
try {
  const waiting = checks.values();
  const work = Array.from({ length: CONCURRENCY }, async () => {
    // Both loops take from one iterator.
    for (const check of waiting)
      outcomes.set(check, await runCheck(check, installed, toolsMissing));
  });
  await Promise.all(work);
} finally {
  await installed.close();
}
const rows = checks.map((check) => {
  const { status, detail, seconds } = outcomes.get(check) ?? NOT_RUN;
  return [check.name, status, detail, `${seconds.toFixed(1)} s`];
});
const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
for (const row of rows) {
  const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  process.stdout.write(`${cells.join("  ").trimEnd()}\n`);
}
process.exitCode = Array.from(outcomes.values()).some(({ status }) => status === "FAILED") ? 1 : 0;
