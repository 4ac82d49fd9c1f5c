/** The machine that a run was made on, and the memory of its processes. */
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";

const MIB = 1_048_576;

/** How often the memory of a process is looked at. */
const SAMPLE_MS = 250;

/** What a number depends on beside the code. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGib: Math.round((totalmem() / (1024 * MIB)) * 10) / 10,
    system: `${process.platform} ${process.arch}`,
    bun: Bun.version,
    date: new Date().toISOString(),
  };
}

/** The machine of a run. */
export type Machine = ReturnType<typeof describeMachine>;

/**
 * Resident memory of a process, in MiB: now (`VmRSS`) or at most so far (`VmHWM`).
 *
 * @returns `undefined` where the process is gone or the system has no /proc.
 */
export function readResidentMib(pid: number, field: "VmRSS" | "VmHWM"): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** Looks at the memory of a process until it is stopped. */
export interface MemorySampler {
  /** What was seen so far, in MiB, oldest first. */
  readonly samplesMib: readonly number[];
  stop(): void;
}

/** Begins to look at the resident memory of a process. */
export function startMemorySampler(pid: number): MemorySampler {
  const samplesMib: number[] = [];
  const timer = setInterval(() => {
    const sample = readResidentMib(pid, "VmRSS");
    if (sample !== undefined) samplesMib.push(sample);
  }, SAMPLE_MS);
  timer.unref();
  return { samplesMib, stop: () => clearInterval(timer) };
}
