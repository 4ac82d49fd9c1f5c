/** Runs the command line and the service as processes, with a database of their own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInProcess } from "../command-line-io.ts";

/** The folder of the project. */
export const ROOT = join(import.meta.dir, "../../..");

/** With EXECUTABLE, a path in the project, commands run from this file, and all as processes. */
const { EXECUTABLE } = process.env;
const PROGRAM =
  EXECUTABLE === undefined
    ? [process.execPath, join(ROOT, "server/main.ts")]
    : [join(ROOT, EXECUTABLE)];

/** The result of a command. */
export interface CommandResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Creates a temporary folder for a database, to run commands with it. */
export async function openSandbox(settings: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "place-"));
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    DATABASE_URL: `file:${join(folder, "metrics.db")}`,
    PORT: "0",
    COLLECT: "off",
    ...settings,
  };
  const spawn = (
    command: readonly string[],
    stdin?: string | Uint8Array<ArrayBuffer>,
    wrapper: readonly string[] = [],
  ) =>
    Bun.spawn([...wrapper, ...PROGRAM, ...command], {
      // The executable names itself in its messages as it was called.
      ...(EXECUTABLE !== undefined && wrapper.length === 0 && { argv0: "bun server/main.ts" }),
      cwd: folder,
      env,
      stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
      stdout: "pipe",
      stderr: "pipe",
    });
  /** Runs a command as a process. */
  const run = async (
    command: readonly string[],
    stdin?: string | Uint8Array<ArrayBuffer>,
    wrapper?: readonly string[],
  ): Promise<CommandResult> => {
    const child = spawn(command, stdin, wrapper);
    const [out, err, status] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    return { status, out, err };
  };
  /** Runs a command in the test process, which saves the start of a process. */
  const runInside = (command: readonly string[]): Promise<CommandResult> => {
    if (EXECUTABLE !== undefined) return run(command);
    // The working directory is another one, so relative paths of settings become absolute.
    return runInProcess(command, {
      SPOOL_FOLDER: join(folder, "data/spool"),
      ...env,
      DATABASE_URL: env["DATABASE_URL"]?.replace(/^file:(?!\/)/, `file:${folder}/`) ?? "",
    });
  };
  return {
    folder,
    file: join(folder, "metrics.db"),
    spawn,
    run,
    runInside,
    /**
     * Runs a command that must succeed in the test process.
     *
     * @returns Its standard output.
     */
    async runOrThrow(...command: readonly string[]): Promise<string> {
      const { status, out, err } = await runInside(command);
      if (status !== 0) throw new Error(`${command.join(" ")}: ${err}`);
      return out;
    },
    /** Writes a file into the folder. @returns Its path. */
    async write(name: string, text: string | Uint8Array): Promise<string> {
      const path = join(folder, name);
      await Bun.write(path, text);
      return path;
    },
    /**
     * Starts the service and waits until it serves.
     *
     * @param wrapper A command that runs the service, such as strace.
     */
    async serve(wrapper: readonly string[] = []) {
      const child = spawn(["serve"], undefined, wrapper);
      const decoder = new TextDecoder();
      const log: string[] = [];
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const logRead = (async () => {
        for await (const piece of child.stderr) {
          log.push(decoder.decode(piece, { stream: true }));
          const [, url] = / at (http:\/\/[\d.:]+(?:\/[\w.~/-]+)?)/.exec(log.join("")) ?? [];
          if (url !== undefined) resolve(url);
        }
        const status = child.signalCode ?? (await child.exited);
        reject(new Error(`The service ended with ${status} before it served: ${log.join("")}`));
      })();
      const url = await promise;
      return {
        child,
        url,
        /** The log so far. */
        log: () => log.join(""),
        /** Stops the service. @returns Its exit status and its whole log. */
        async stop(signal: NodeJS.Signals = "SIGTERM") {
          child.kill(signal);
          const status = await child.exited;
          await logRead;
          return { status, log: log.join("") };
        },
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A folder with a database. */
export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;
