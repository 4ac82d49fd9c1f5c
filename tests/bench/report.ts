/** What a run reports: rows with their targets, as a table and as JSON. */
import { formatTable } from "../../server/commands/table.ts";
import type { Machine } from "./machine.ts";

/** What a number must be. */
export interface Target {
  readonly sign: ">=" | "<=" | "<";
  readonly limit: number;
}

/** A line of the report. A ratio is of medians; its spread is that of the rounds. */
export interface Row {
  readonly [field: string]: string | number | null;
  readonly part: string;
  readonly what: string;
  readonly ours: number;
  readonly theirs: number | null;
  readonly unit: string;
  readonly ratio: number | null;
  readonly lowest: number | null;
  readonly highest: number | null;
  readonly target: string | null;
  readonly result: "pass" | "short" | null;
}

/** Compares two sides that were measured in turns, round by round. */
export function ratioRow(given: {
  readonly part: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly target?: Target;
}): Row {
  const { part, what, unit, ours, theirs, target } = given;
  const ratio = median(ours) / median(theirs);
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
  return {
    part,
    what,
    ours: rounded(median(ours)),
    theirs: rounded(median(theirs)),
    unit,
    ratio: rounded(ratio),
    lowest: rounded(Math.min(...ratios)),
    highest: rounded(Math.max(...ratios)),
    ...judged(ratio, target),
  };
}

/** Tells one number, compared with nothing but its target. */
export function valueRow(given: {
  readonly part: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  readonly target?: Target;
}): Row {
  const { part, what, unit, value, target } = given;
  const none = { theirs: null, ratio: null, lowest: null, highest: null };
  return { part, what, ours: rounded(value), unit, ...none, ...judged(value, target) };
}

function judged(value: number, target: Target | undefined): Pick<Row, "target" | "result"> {
  if (target === undefined) return { target: null, result: null };
  const { sign, limit } = target;
  const holds = sign === ">=" ? value >= limit : sign === "<=" ? value <= limit : value < limit;
  return { target: `${sign} ${limit}`, result: holds ? "pass" : "short" };
}

/** The middle one of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Three digits, or the whole part where that has more. */
function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

const COLUMNS = [
  "what",
  "ours",
  "theirs",
  "unit",
  "ratio",
  "lowest",
  "highest",
  "target",
  "result",
] as const;

/** The report for a person. */
export function formatReport(machine: Machine, seconds: number, rows: readonly Row[]): string {
  const { cpu, cores, memoryGib, system, bun, date } = machine;
  const head =
    `${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}, Bun ${bun}\n` +
    `${date}, ${Math.round(seconds)} seconds; medians, the spread is that of the rounds\n`;
  const tables = Map.groupBy(rows, ({ part }) => part)
    .entries()
    .map(([part, own]) => `\n${part}\n${formatTable<Row>(COLUMNS, own)}`);
  return head + [...tables].join("");
}
