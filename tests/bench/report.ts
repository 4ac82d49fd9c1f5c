/** The report of a run: rows with thresholds, as a table and as JSON. */
import { formatTable } from "../../server/commands/terminal/output.ts";
import type { Machine } from "./machine.ts";

/** A threshold for a value. */
export interface Threshold {
  readonly sign: ">=" | "<=" | "<";
  readonly limit: number;
}

/** A row of the report. Values and ratios are of medians; the spread is over the rounds. */
export interface ReportRow {
  readonly [field: string]: string | number | null;
  readonly part: string;
  readonly what: string;
  /** `null` in a row that was skipped. */
  readonly ours: number | null;
  readonly theirs: number | null;
  readonly unit: string | null;
  readonly ratio: number | null;
  readonly lowest: number | null;
  readonly highest: number | null;
  readonly target: string | null;
  readonly result: "pass" | "short" | null;
}

/** Compares two targets that were measured alternately, round by round. */
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
    ...checkThreshold(ratio, target),
  };
}

/** The fields of a row that has no value for them. */
const NO_VALUES = {
  ours: null,
  theirs: null,
  unit: null,
  ratio: null,
  lowest: null,
  highest: null,
};

/** A row with one value, or with one of each round, compared only with its threshold. */
export function createValueRow(values: {
  readonly part: string;
  readonly what: string;
  readonly unit: string;
  readonly value: number | readonly number[];
  readonly target?: Threshold;
}): ReportRow {
  const { part, what, unit, value, target } = values;
  const rounds = typeof value === "number" ? [] : value;
  const middle = typeof value === "number" ? value : median(value);
  return {
    part,
    what,
    ...NO_VALUES,
    ours: roundToThreeDigits(middle),
    unit,
    ...(rounds.length > 0 && {
      lowest: roundToThreeDigits(Math.min(...rounds)),
      highest: roundToThreeDigits(Math.max(...rounds)),
    }),
    ...checkThreshold(middle, target),
  };
}

/** A row that was not measured: `what` says why. */
export function createSkippedRow({ part, what }: Pick<ReportRow, "part" | "what">): ReportRow {
  return { part, what, ...NO_VALUES, target: null, result: null };
}

/** A row of a part that has columns of its own, and no measured values. */
export function createTextRow(part: string, cells: Readonly<Record<string, string>>): ReportRow {
  const [what = ""] = Object.values(cells);
  return { part, what, ...NO_VALUES, target: null, result: null, ...cells };
}

function checkThreshold(
  value: number,
  target: Threshold | undefined,
): Pick<ReportRow, "target" | "result"> {
  if (target === undefined) return { target: null, result: null };
  const { sign, limit } = target;
  const isMet = sign === ">=" ? value >= limit : sign === "<=" ? value <= limit : value < limit;
  return { target: `${sign} ${limit}`, result: isMet ? "pass" : "short" };
}

/** The median of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Formats a number with three digits, or with its whole part if that is longer. */
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

/** The usual columns, or those that only this part has. */
function listColumns(rows: readonly ReportRow[]): readonly string[] {
  const usual = new Set<string>(["part", ...COLUMNS]);
  const own = Object.keys(rows[0] ?? {}).filter((name) => !usual.has(name));
  return own.length === 0 ? COLUMNS : own;
}

/** Formats the report as text. */
export function formatReport(
  machine: Machine,
  seconds: number,
  rows: readonly ReportRow[],
): string {
  const { cpu, cores, memoryGib, system, bun, date } = machine;
  const head =
    `${cpu}, ${cores} cores, ${memoryGib} GiB, ${system}, Bun ${bun}\n` +
    `${date}, ${Math.round(seconds)} seconds; medians; the spread is over the rounds\n`;
  const tables = Map.groupBy(rows, ({ part }) => part)
    .entries()
    .map(([part, own]) => `\n${part}\n${formatTable(listColumns(own), own)}`);
  return head + [...tables].join("");
}
