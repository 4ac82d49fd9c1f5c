/** The command line as a process, on a database of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of the project. */
export const ROOT = join(import.meta.dir, "../../..");

/** What a verb did. */
export interface CommandResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Makes a place for a database, and runs verbs on it. */
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
    verb: readonly string[],
    stdin?: string | Uint8Array<ArrayBuffer>,
    under: readonly string[] = [],
  ) =>
    Bun.spawn([...under, process.execPath, join(ROOT, "server/main.ts"), ...verb], {
      cwd: folder,
      env,
      stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
      stdout: "pipe",
      stderr: "pipe",
    });
  const run = async (
    verb: readonly string[],
    stdin?: string | Uint8Array<ArrayBuffer>,
    under?: readonly string[],
  ): Promise<CommandResult> => {
    const child = spawn(verb, stdin, under);
    const [out, err, status] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    return { status, out, err };
  };
  return {
    folder,
    file: join(folder, "metrics.db"),
    spawn,
    run,
    /** Runs a verb that must succeed, and gives what it printed. */
    async runOrThrow(...verb: readonly string[]): Promise<string> {
      const { status, out, err } = await run(verb);
      if (status !== 0) throw new Error(`${verb.join(" ")}: ${err}`);
      return out;
    },
    /** Writes a file of lines. */
    async write(name: string, text: string | Uint8Array): Promise<string> {
      const path = join(folder, name);
      await Bun.write(path, text);
      return path;
    },
    /**
     * Starts the service and waits until it serves.
     *
     * @param under The command that runs it, if another does.
     */
    async serve(under: readonly string[] = []) {
      const child = spawn(["serve"], undefined, under);
      const decoder = new TextDecoder();
      const log: string[] = [];
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const logRead = (async () => {
        for await (const piece of child.stderr) {
          log.push(decoder.decode(piece, { stream: true }));
          const [, url] = / at (http:\/\/[\d.:]+)/.exec(log.join("")) ?? [];
          if (url !== undefined) resolve(url);
        }
        reject(new Error(`It did not start: ${log.join("")}`));
      })();
      const url = await promise;
      return {
        child,
        url,
        /** What it has logged so far. */
        log: () => log.join(""),
        /** Ends it as told and gives its exit status and its whole log. */
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

/** A place for a database. */
export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;
