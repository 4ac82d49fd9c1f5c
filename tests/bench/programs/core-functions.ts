/**
 * Runs the comparisons of core, in Bun or bundled in Node, and prints JSON: the nanoseconds of each
 * round for each comparison. With the index of a comparison and `ours` or `theirs`, it runs that once,
 * and prints by how many MiB the peak memory of the process grew.
 */
import { CORE_CASES, type CoreCase } from "../core/cases.ts";
import { readResidentMib } from "../machine.ts";
import { median } from "../report.ts";

// Many short rounds, because other programs on the machine slow some of them.
const ROUNDS = 21;
const ROUND_MS = 10;
const WARM_UP_MS = 80;

/** Keeps the results from being optimised away. */
const results: unknown[] = [];

/**
 * Runs for a time, and returns the nanoseconds of each call: the median of the runs, because the
 * system takes the processor away during some of them.
 */
function measure(run: () => unknown, size: number, durationMs: number): number {
  const runsMs: number[] = [];
  const start = performance.now();
  for (let last = start; last - start < durationMs;) {
    results[0] = run();
    const now = performance.now();
    runsMs.push(now - last);
    last = now;
  }
  return (median(runsMs) * 1e6) / size;
}

/** Measures both alternately, so that other load on the machine affects both. */
function compare({ ours, theirs, size }: CoreCase) {
  measure(ours, size, WARM_UP_MS);
  measure(theirs, size, WARM_UP_MS);
  const times = { ours: new Array<number>(), theirs: new Array<number>() };
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(measure(ours, size, ROUND_MS));
    times.theirs.push(measure(theirs, size, ROUND_MS));
  }
  return times;
}

const [index, side] = process.argv.slice(2);
if (index === undefined) {
  console.log(JSON.stringify(CORE_CASES.map(compare)));
} else {
  const chosen = CORE_CASES[Number(index)];
  const before = readPeakMib();
  results[0] = side === "ours" ? chosen?.ours() : chosen?.theirs();
  console.log(readPeakMib() - before);
}

function readPeakMib(): number {
  return readResidentMib(process.pid, "VmHWM") ?? 0;
}
