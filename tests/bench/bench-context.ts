/** The context of a benchmark part, and helpers for its report rows. */
import type { LoadGenerator } from "./load-generator.ts";
import { createRatioRow, createValueRow, type ReportRow, type Threshold } from "./report.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

/** What every part of the benchmark uses. */
export interface BenchContext {
  readonly workspace: Workspace;
  readonly load: LoadGenerator;
  /** Prints the progress of the run. */
  logProgress(text: string): void;
  /** Whether the run has its long form: more observations, and a minute instead of seconds. */
  readonly isLong: boolean;
}

/** A part of the benchmark. It stops everything that it starts. */
export type Part = (context: BenchContext) => Promise<ReportRow[]>;

/** A threshold: at least this value. */
export function atLeast(limit: number): Threshold {
  return { sign: ">=", limit };
}

/** A threshold: at most this value. */
export function atMost(limit: number): Threshold {
  return { sign: "<=", limit };
}

/** A threshold: less than this value. */
export function lessThan(limit: number): Threshold {
  return { sign: "<", limit };
}

/** Compares CPU times; no row if the system does not report them. */
export function createCpuRows(values: Parameters<typeof createRatioRow>[0]): ReportRow[] {
  return values.ours.some(Number.isNaN) ? [] : [createRatioRow(values)];
}

/** The peak memory of a server so far; no row if the system does not report it. */
export function createMemoryRows(part: string, what: string, { memory }: BenchServer): ReportRow[] {
  if (memory.samplesMib.length === 0) return [];
  const value = Math.max(...memory.samplesMib);
  return [createValueRow({ part, what: `memory, ${what}`, unit: "MiB", value })];
}

/** Runs a measurement with servers, and always stops them. */
export async function withServers<Servers extends Readonly<Record<string, BenchServer>>, Result>(
  servers: Servers,
  work: (servers: Servers) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(servers);
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
  }
}
