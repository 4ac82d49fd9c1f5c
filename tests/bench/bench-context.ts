/** What every part of the bench is given. */
import type { LoadGenerator } from "./load-generator.ts";
import { createValueRow, type ReportRow, type Threshold } from "./report.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

/** What a part works with. */
export interface BenchContext {
  readonly workspace: Workspace;
  readonly load: LoadGenerator;
  /** Tells how far the run is. */
  say(text: string): void;
  /** How long the memory is watched under load. */
  readonly memorySeconds: number;
}

/** A part: measures, and ends what it started. */
export type Part = (context: BenchContext) => Promise<ReportRow[]>;

/** At least so much. */
export function atLeast(limit: number): Threshold {
  return { sign: ">=", limit };
}

/** At most so much. */
export function atMost(limit: number): Threshold {
  return { sign: "<=", limit };
}

/** Less than so much. */
export function lessThan(limit: number): Threshold {
  return { sign: "<", limit };
}

/** The most memory that a side had so far; none where the system doesn't tell. */
export function createMemoryRows(part: string, what: string, { memory }: BenchServer): ReportRow[] {
  if (memory.samplesMib.length === 0) return [];
  const value = Math.max(...memory.samplesMib);
  return [createValueRow({ part, what: `memory, ${what}`, unit: "MiB", value })];
}

/** Works with sides, and stops them, whatever happens. */
export async function withServers<Sides extends Readonly<Record<string, BenchServer>>, Result>(
  servers: Sides,
  work: (sides: Sides) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(servers);
  } finally {
    await Promise.all(Object.values(servers).map((side) => side.stop()));
  }
}
