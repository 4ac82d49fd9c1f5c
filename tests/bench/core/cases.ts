/** What the benchmark of core compares: a function, and what one would write without it. */
import { BATCH_CASES } from "./batch-cases.ts";
import { TEXT_CASES } from "./text-cases.ts";

/** Two ways to the same end, with the same inputs. */
export interface CoreCase {
  readonly what: string;
  /** Calls, entries or lines that one run handles: times are for each. */
  readonly size: number;
  ours(): unknown;
  theirs(): unknown;
  /** The highest ratio of times that passes. */
  readonly maxRatio?: number;
  /** Whether the memory of one run is measured too. */
  readonly hasMemory?: boolean;
}

export const CORE_CASES: readonly CoreCase[] = [...TEXT_CASES, ...BATCH_CASES];
