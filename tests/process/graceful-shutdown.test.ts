/** The end of a command: its process ends with its work. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openSandbox, ROOT } from "../support/processes/command-line.ts";

const RUN_IN_PROCESS = join(ROOT, "tests/support/command-line-io.ts");

const COMMANDS = [
  ["accounts", "create", "acme", "--credits", "10"],
  ["accounts", "list"],
  ["keys", "create", "acme"],
  ["credits", "verify"],
  ["creators", "list"],
  ["channels", "list"],
  ["status"],
  ["export"],
  ["retention", "apply"],
  ["tokens", "list"],
  ["audit"],
];

test("commands leave no timer that keeps their process alive", async () => {
  const sandbox = await openSandbox();
  const program = `
    const { runInProcess } = await import(${JSON.stringify(RUN_IN_PROCESS)});
    for (const command of ${JSON.stringify(COMMANDS)}) {
      const { status, err } = await runInProcess(command, process.env);
      if (status !== 0) throw new Error(err);
    }
    const doneAt = performance.now();
    process.on("exit", () => console.log(performance.now() - doneAt));`;
  const child = Bun.spawn([process.execPath, "-e", program], {
    cwd: sandbox.folder,
    env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: `file:${sandbox.file}` },
  });
  const idleMs = Number(await child.stdout.text());
  expect(await child.exited).toBe(0);
  expect(idleMs).toBeGreaterThan(0);
  // A timer of `drain()` would run for a second.
  expect(idleMs).toBeLessThan(500);
  await sandbox.close();
});
