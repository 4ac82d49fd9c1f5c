/** What charts draw: the series of a chart, the time axis that charts share, and the drawn rows. */
import { formatNumberOf, type Measure, type TimeScale } from "../format.ts";

/** The values of a series, one for each instant; `null` is unknown, and drawn as a gap. */
type Values = readonly (number | null)[];

export interface TimeAxis {
  /** Milliseconds since 1970 UTC, or since publication if the time scale is `age`; rising. */
  readonly instants: readonly number[];
  /** `utc` if the instants are starts of days, weeks or months. */
  readonly timeScale: TimeScale;
  /** Values from here on can still change: the legend says “so far”, and bars are hatched. */
  readonly unfinishedFrom?: number | undefined;
  /** The longest time before an instant that is not a gap; a longer time is drawn as a gap. */
  readonly getGapMs: (at: number) => number;
}

export interface ChartData {
  readonly title: string;
  readonly series: readonly { readonly label: string; readonly values: Values }[];
  /** `bars` shows differences: gains above the line, losses below it. */
  readonly kind?: "lines" | "bars";
  readonly measure?: Measure;
  /** The least range of the vertical axis, so that small differences do not look large. */
  readonly leastSpan?: number | undefined;
}

export interface PlotData extends TimeAxis, ChartData {
  /** Whether the vertical scale is logarithmic. It has no place for 0 and less: they are left out. */
  readonly isLog: boolean;
  readonly isDark: boolean;
  /** Charts of one group point at the same instant. */
  readonly group: string;
}

export const isKnown = ({ series }: Pick<ChartData, "series">): boolean =>
  series.some(({ values }) => values.some((value) => value !== null));

/** Whether a chart can be logarithmic: changes can be negative, and bars begin at 0. */
export const canBeLog = ({ kind = "lines", measure = "count", series }: ChartData): boolean =>
  kind === "lines" &&
  measure === "count" &&
  series.some(({ values }) => values.some((value) => (value ?? 0) > 0));

/** Says that a chart is logarithmic, and how many values it leaves out because of that. */
export function describeScale({ series }: ChartData): string {
  const leftOut = series
    .flatMap(({ values }) => values)
    .filter((value) => value !== null && value <= 0).length;
  if (leftOut === 0) return "log scale";
  return `log scale, without ${formatNumberOf(leftOut, "value")} of 0, which it has no place for`;
}

/** The rows of a chart, with a row of unknown values in each gap. */
export interface PlotRows {
  /** Seconds, as uPlot counts them. */
  readonly times: readonly number[];
  /** The values of each series. */
  readonly known: readonly Values[];
  /** The same as uPlot draws them: a line goes on over `undefined`, and ends at `null`. */
  readonly drawn: readonly (number | null | undefined)[][];
}

/** Arranges the rows of a chart. The least time between rows sets the width of bars. */
export function arrangeRows({ instants, series, timeScale, getGapMs, isLog }: PlotData): PlotRows {
  const times: number[] = [];
  const known: (number | null)[][] = series.map(() => []);
  for (const [index, at] of instants.entries()) {
    const previous = instants[index - 1];
    if (timeScale !== "age" && previous !== undefined && at - previous > getGapMs(at)) {
      times.push((previous + at) / 2000);
      for (const column of known) column.push(null);
    }
    times.push(at / 1000);
    for (const [nth, column] of known.entries()) column.push(series[nth]?.values[index] ?? null);
  }
  const drawn = known.map((column) => {
    const shown = isLog
      ? column.map((value) => (value !== null && value > 0 ? value : null))
      : column;
    return timeScale === "age" ? bridge(times, shown, getGapMs) : shown;
  });
  return { times, known, drawn };
}

/**
 * Lets a line go on over unknown values unless they are a gap: of items over each other by age,
 * each was observed at other ages.
 */
function bridge(times: readonly number[], values: Values, getGapMs: TimeAxis["getGapMs"]) {
  const bridged: (number | null | undefined)[] = [...values];
  let knownAt = -1;
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const at = (times[index] ?? 0) * 1000;
    const isNear = knownAt !== -1 && at - (times[knownAt] ?? 0) * 1000 <= getGapMs(at);
    if (isNear) bridged.fill(undefined, knownAt + 1, index);
    knownAt = index;
  }
  return bridged;
}

/**
 * Finds the row whose value a series has at a row: the last one before, where its line goes on over
 * unknown values.
 */
export function findKnownRow({ drawn, known }: PlotRows, nth: number, row: number): number {
  if (drawn[nth]?.[row] !== undefined) return row;
  return known[nth]?.findLastIndex((value, index) => index < row && value !== null) ?? row;
}
