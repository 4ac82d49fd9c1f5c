/** What a run reports: rows with their targets, as a table and as JSON. */
import { formatTable } from "../../server/commands/output.ts";
import type { Machine } from "./machine.ts";

/** What a number must be. */
export interface Threshold {
  readonly sign: ">=" | "<=" | "<";
  readonly limit: number;
}

/** A line of the report. A ratio is of medians; its spread is that of the rounds. */
export interface ReportRow {
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
export function createRatioRow(values: {
  readonly part: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly target?: Threshold;
}): ReportRow {
  const { part, what, unit, ours, theirs, target } = values;
  const ratio = median(ours) / median(theirs);
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
  return {
    part,
    what,
    ours: roundToThreeDigits(median(ours)),
    theirs: roundToThreeDigits(median(theirs)),
    unit,
    ratio: roundToThreeDigits(ratio),
    lowest: roundToThreeDigits(Math.min(...ratios)),
    highest: roundToThreeDigits(Math.max(...ratios)),
    ...judge(ratio, target),
  };
}

/** Tells one number, compared with nothing but its target. */
export function createValueRow(values: {
  readonly part: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  readonly target?: Threshold;
}): ReportRow {
  const { part, what, unit, value, target } = values;
  const none = { theirs: null, ratio: null, lowest: null, highest: null };
  return { part, what, ours: roundToThreeDigits(value), unit, ...none, ...judge(value, target) };
}

function judge(value: number, target: Threshold | undefined): Pick<ReportRow, "target" | "result"> {
  if (target === undefined) return { target: null, result: null };
  const { sign, limit } = target;
  const isMet = sign === ">=" ? value >= limit : sign === "<=" ? value <= limit : value < limit;
  return { target: `${sign} ${limit}`, result: isMet ? "pass" : "short" };
}

/** The middle one of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Three digits, or the whole part where that has more. */
function roundToThreeDigits(value: number): number {
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
export function formatReport(
  machine: Machine,
  seconds: number,
  rows: readonly ReportRow[],
): string {
  const { cpu, cores, memoryGib, system, bun, date } = machine;
  const head =
    `${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}, Bun ${bun}\n` +
    `${date}, ${Math.round(seconds)} seconds; medians, the spread is that of the rounds\n`;
  const tables = Map.groupBy(rows, ({ part }) => part)
    .entries()
    .map(([part, own]) => `\n${part}\n${formatTable<ReportRow>(COLUMNS, own)}`);
  return head + [...tables].join("");
}
