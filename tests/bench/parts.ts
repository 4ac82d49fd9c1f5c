/** What every part of the bench is given. */
import type { Load } from "./load.ts";
import { valueRow, type Row, type Target } from "./report.ts";
import type { Side, Workspace } from "./workspace.ts";

/** What a part works with. */
export interface Surroundings {
  readonly workspace: Workspace;
  readonly load: Load;
  /** Tells how far the run is. */
  say(text: string): void;
  /** How long the memory is watched under load. */
  readonly memorySeconds: number;
}

/** A part: measures, and ends what it started. */
export type Part = (surroundings: Surroundings) => Promise<Row[]>;

/** At least so much. */
export function atLeast(limit: number): Target {
  return { sign: ">=", limit };
}

/** At most so much. */
export function atMost(limit: number): Target {
  return { sign: "<=", limit };
}

/** Less than so much. */
export function under(limit: number): Target {
  return { sign: "<", limit };
}

/** The most memory that a side had so far; none where the system doesn't tell. */
export function memoryRows(part: string, what: string, { memory }: Side): Row[] {
  if (memory.samplesMib.length === 0) return [];
  const value = Math.max(...memory.samplesMib);
  return [valueRow({ part, what: `memory, ${what}`, unit: "MiB", value })];
}

/** Works with sides, and stops them, whatever happens. */
export async function withSides<Sides extends Readonly<Record<string, Side>>, Result>(
  sides: Sides,
  work: (sides: Sides) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(sides);
  } finally {
    await Promise.all(Object.values(sides).map((side) => side.stop()));
  }
}
