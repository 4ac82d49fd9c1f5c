/** Tells when the process has to end: by a signal, or because what started it ended. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { readSystemErrorCode } from "../system-errors.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * A second signal within this time is the same one: `npx` passes SIGINT on, which the terminal sends
 * to all processes anyway.
 */
const DUPLICATE_SIGNAL_MS = 1000;

/** How often it is checked whether the package runner is there. */
const CHECK_INTERVAL_MS = 250;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Resolves once the process has to end: on SIGTERM or SIGINT, or once the package runner that started
 * it is gone. A second signal ends the process at once.
 */
export function waitForTermination(environment: Environment): Promise<void> {
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
    onAnyExit(findPackageRunnerPids(environment), resolve);
  });
}

/**
 * The processes that a package runner put above this one: `bun run`, and with `npx` its shell. `npx`
 * ends that shell on SIGTERM and leaves what the shell started. What is above a package runner is
 * not watched: a service in the background outlives its terminal.
 */
function findPackageRunnerPids({
  npm_lifecycle_event: script,
  npm_execpath: runner = "",
}: Environment): number[] {
  if (script === undefined) return [];
  const parent = process.ppid;
  // Under `npx bun server/main.ts` the parent is the shell already.
  const isBelowNpx = basename(runner) === "npm-cli.js" && script !== "npx";
  const shell = isBelowNpx ? readParentPid(parent) : undefined;
  return shell === undefined ? [parent] : [parent, shell];
}

/** Calls back once one of the processes is gone. */
function onAnyExit(pids: readonly number[], callback: () => void): void {
  if (pids.length === 0) return;
  const timer = setInterval(() => {
    if (pids.every(isRunning)) return;
    clearInterval(timer);
    callback();
  }, CHECK_INTERVAL_MS);
  timer.unref();
}

/** The parent of a process, where the system tells it. */
function readParentPid(pid: number): number | undefined {
  if (process.platform !== "linux") {
    const { stdout } = Bun.spawnSync(["ps", "-o", "ppid=", "-p", String(pid)]);
    return Number(stdout.toString()) || undefined;
  }
  try {
    // The name of the program, in parentheses, may have spaces.
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
