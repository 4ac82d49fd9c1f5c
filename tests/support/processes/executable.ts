/** Builds the executable, and runs it where there is nothing else: no files, no PATH, no settings. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "../../../server/build/executable.ts";
import { getOwnTarget } from "../../../server/build/targets.ts";
import { readJsonOutput } from "./json-output.ts";

/** The commit that the executable names. */
export const COMMIT = "0123456789ab";

/** Builds the executable in a temporary folder. */
export async function createExecutable() {
  const root = await mkdtemp(join(tmpdir(), "executable-"));
  const path = join(root, "bin/creator-metrics");
  await buildExecutable({ target: getOwnTarget(), outfile: path, commit: COMMIT });
  const folder = join(root, "empty");
  await mkdir(folder);

  /** Starts a command in the empty folder. Its temporary file is removed with the executable. */
  const spawn = (command: readonly string[], settings: Readonly<Record<string, string>> = {}) => {
    const env = { TMPDIR: root, ...settings };
    return Bun.spawn([path, ...command], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
  };

  return {
    path,
    folder,
    spawn,
    /** Runs a command. */
    async run(command: readonly string[], env?: Readonly<Record<string, string>>) {
      const child = spawn(command, env);
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { status: await child.exited, out, err };
    },
    /** Starts the demo, and waits until it serves. */
    async startDemo(env: Readonly<Record<string, string>> = {}) {
      const child = spawn(["demo", "--json"], { PORT: "0", ...env });
      const { url = "", key = "" } = await readJsonOutput(child);
      return { child, url, key };
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

export type Executable = Awaited<ReturnType<typeof createExecutable>>;
