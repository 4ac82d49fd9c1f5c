/** Waits for signals or the end of the package runner; stops a server without cutting responses. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import pTimeout from "p-timeout";
import { readSystemErrorCode } from "../system-errors.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** A second signal this soon is the first one again: `npx` repeats the terminal's SIGINT. */
const DUPLICATE_SIGNAL_MS = 1000;

/** The system does not tell when a parent ends, so the service has to look. */
const CHECK_INTERVAL_MS = 1000;

/** Resolves on a signal, or once the package runner has ended. A second signal ends the process. */
export function waitForTermination(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      firstAt ??= performance.now();
      resolve();
      if (performance.now() - firstAt < DUPLICATE_SIGNAL_MS) return;
      for (const signalName of SIGNALS) process.removeAllListeners(signalName);
      process.kill(process.pid, signal);
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
    const pids = findPackageRunnerPids();
    if (pids.length === 0) return;
    const timer = setInterval(() => {
      if (pids.every(isRunning)) return;
      clearInterval(timer);
      resolve();
    }, CHECK_INTERVAL_MS);
    timer.unref();
  });
}

/**
 * Finds the processes of a package runner above this process: `bun run`, and with `npx` its shell.
 * On SIGTERM `npx` ends its shell, but not the children of the shell. Processes above the package
 * runner don't count: a service in the background outlives its terminal.
 */
function findPackageRunnerPids(): number[] {
  const { npm_lifecycle_event: script, npm_execpath: runner = "" } = process.env;
  if (script === undefined) return [];
  const parent = process.ppid;
  // With `npx bun server/main.ts` the parent is the shell itself.
  const isBelowNpx = basename(runner) === "npm-cli.js" && script !== "npx";
  const shell = isBelowNpx ? readParentPid(parent) : undefined;
  return shell === undefined ? [parent] : [parent, shell];
}

function readParentPid(pid: number): number | undefined {
  if (process.platform !== "linux") {
    const { stdout } = Bun.spawnSync(["ps", "-o", "ppid=", "-p", String(pid)]);
    return Number(stdout.toString()) || undefined;
  }
  try {
    // The name of the program, in parentheses, may contain spaces.
    const [, ppid] = /\) \S+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return ppid === undefined ? undefined : Number(ppid);
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return readSystemErrorCode(error) === "EPERM"; // It belongs to another user.
  }
}

const POLL_INTERVAL_MS = 25;

/** How long the last bytes of responses may take to leave once no request is pending. */
const FLUSH_TIMEOUT_MS = 1000;

/** Rejects new connections, waits for requests in flight, and closes the remaining connections. */
export async function drain(server: Bun.Server<undefined>, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const closed = server.stop();
  do await Bun.sleep(POLL_INTERVAL_MS);
  while (server.pendingRequests > 0 && Date.now() < deadline);
  // A request is not pending any more while the last bytes of its response wait for the socket.
  const flushMs = Math.max(1, Math.min(FLUSH_TIMEOUT_MS, deadline - Date.now()));
  // pTimeout clears its timer: a timer that goes on would keep the process alive.
  await pTimeout(closed, { milliseconds: flushMs, fallback: () => undefined });
  await server.stop(true);
}
