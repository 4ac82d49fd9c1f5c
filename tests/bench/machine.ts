/** Describes the machine, and measures the memory and the CPU time of processes. */
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";

const MIB = 1_048_576;

/** Time between two measurements of the memory of a process. */
const SAMPLE_MS = 250;

/** What results depend on, besides the code. */
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

/** What {@link describeMachine} returns. */
export type Machine = ReturnType<typeof describeMachine>;

/**
 * The resident memory of a process, in MiB: current (`VmRSS`) or peak (`VmHWM`).
 *
 * @returns `undefined` if the process has ended or the system has no /proc.
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

/** The clock of CPU times in /proc ticks this often a second. */
const TICKS_PER_SECOND = 100;

/**
 * The CPU time of a process so far, with all of its threads, in seconds.
 *
 * @returns `NaN` if the process has ended or the system has no /proc.
 */
export function readCpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, can contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** Measures the memory of a process until it is stopped. */
export interface MemorySampler {
  /** The measurements so far, in MiB, oldest first. */
  readonly samplesMib: readonly number[];
  stop(): void;
}

/** Starts to measure the resident memory of a process. */
export function startMemorySampler(pid: number): MemorySampler {
  const samplesMib: number[] = [];
  const timer = setInterval(() => {
    const sample = readResidentMib(pid, "VmRSS");
    if (sample !== undefined) samplesMib.push(sample);
  }, SAMPLE_MS);
  timer.unref();
  return { samplesMib, stop: () => clearInterval(timer) };
}
