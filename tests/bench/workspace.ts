/** The temporary folder and the processes of a run. `close()` removes both. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCpuSeconds, startMemorySampler, type MemorySampler } from "./machine.ts";

/** How long a process may take to end after SIGTERM. */
const EXIT_TIMEOUT_MS = 12_000;

/** The length of the output of a process that an error message can show. */
const OUTPUT_TAIL_CHARACTERS = 10_000;

/** Options of a process. */
export interface ProcessOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** A server of the comparison, in its own process. */
export interface BenchServer {
  readonly origin: string;
  readonly memory: MemorySampler;
  /** Its CPU time so far, in seconds; `NaN` if the system does not report it. */
  readCpuSeconds(): number;
  stop(): Promise<void>;
}

/** A folder and its processes. */
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

/** Creates the folder. */
export async function openWorkspace() {
  const folder = await mkdtemp(join(tmpdir(), "creator-metrics-bench-"));
  const running = new Set<ReturnType<typeof launch>>();
  let closing: Promise<void> | undefined;

  const spawn = (command: readonly string[], given: ProcessOptions = {}) => {
    if (closing !== undefined) throw new Error("The benchmark is ending");
    const child = launch(folder, command, given);
    running.add(child);
    void child.exited.then(() => running.delete(child));
    return child;
  };

  return {
    folder,

    /** Starts a process in the folder. */
    spawn,

    /**
     * Runs a program to its end.
     *
     * @returns Its standard output.
     * @throws {Error} With its standard error, if it failed.
     */
    async run(command: readonly string[], given?: ProcessOptions): Promise<string> {
      const child = spawn(command, given);
      const [out, err, status] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      if (status !== 0)
        throw new Error(`${programName(command)} ended with ${status}: ${err || out}`);
      return out;
    },

    /** Starts a server. It prints its address on standard error. */
    async start(command: readonly string[], given?: ProcessOptions): Promise<BenchServer> {
      const child = spawn(command, given);
      const origin = await waitForOrigin(child.stderr, programName(command));
      const memory = startMemorySampler(child.pid);
      return {
        origin,
        memory,
        readCpuSeconds: () => readCpuSeconds(child.pid),
        stop: () => {
          memory.stop();
          return endProcess(child);
        },
      };
    },

    /** Stops all processes and removes the folder. */
    close(): Promise<void> {
      closing ??= (async () => {
        await Promise.all([...running].map(endProcess));
        await rm(folder, { recursive: true, force: true });
      })();
      return closing;
    },
  };
}

function launch(folder: string, command: readonly string[], { settings, stdin }: ProcessOptions) {
  return Bun.spawn([...command], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      TMPDIR: folder,
      NODE_ENV: "production",
      ...settings,
    },
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
}

function programName([program = "", first = ""]: readonly string[]): string {
  return program === process.execPath ? first : program;
}

async function endProcess(child: ReturnType<typeof launch>): Promise<void> {
  child.kill();
  const last = setTimeout(() => child.kill("SIGKILL"), EXIT_TIMEOUT_MS);
  await child.exited;
  clearTimeout(last);
}

/**
 * The first address that ends a line of the output, alone or after "at". It keeps reading, because a
 * full pipe would block the process.
 */
function waitForOrigin(stream: ReadableStream<Uint8Array>, name: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const read = async () => {
    const decoder = new TextDecoder();
    let output = "";
    for await (const piece of stream) {
      output = (output + decoder.decode(piece, { stream: true })).slice(-OUTPUT_TAIL_CHARACTERS);
      const [, origin] = /(?:^| at )(http:\/\/[\d.]+:\d+)\n/m.exec(output) ?? [];
      if (origin !== undefined) resolve(origin);
    }
    reject(new Error(`${name} did not start: ${output}`));
  };
  read().catch(reject);
  return promise;
}
