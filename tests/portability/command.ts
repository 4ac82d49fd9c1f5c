/** Runs a command. */
import { join } from "node:path";
import { ROOT } from "../support/docs.ts";

const TIMEOUT_MS = 120_000;

/**
 * @returns What the command wrote to its standard output, and then to its standard error.
 * @throws {Error} If it fails, with what it wrote.
 */
export async function runCommand(command: readonly string[], cwd: string): Promise<string> {
  const PATH = `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"]}`;
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, PATH, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
  });
  const [out, error, status] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  const text = `${out}${error}`.trim();
  if (status !== 0) throw new Error(`${command.join(" ")} exited with ${status}:\n${text}`);
  return text;
}
