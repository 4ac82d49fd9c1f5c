/** Draws a chart with uPlot, in the colours of the style sheet. */
import uPlot from "uplot";
import {
  formatLocalPoint,
  formatMeasure,
  formatTick,
  formatTicks,
  formatUtc,
  formatUtcDate,
  type Measure,
  type TimeScale,
} from "../format.ts";
import { createBars } from "./plot-bars.ts";
import { createTimeRange, createValueRange, getTimeMargin } from "./plot-ranges.ts";

/** A series of a chart. */
interface PlotSeries {
  readonly label: string;
  /** The values, one for each instant; `null` is unknown, and drawn as a gap. */
  readonly values: readonly (number | null)[];
}

/** The data of a chart. */
export interface PlotData {
  /** Milliseconds since 1970 UTC, rising. */
  readonly instants: readonly number[];
  /** `utc` if the instants are starts of days, weeks or months. */
  readonly timeScale: TimeScale;
  /** From here on, values are those so far: the legend says so, and bars are hatched. */
  readonly unfinishedFrom?: number | undefined;
  /** The least height of the vertical axis: smaller differences are no news. */
  readonly leastSpan?: number | undefined;
  readonly series: readonly PlotSeries[];
  /** `bars` shows differences: gains above the line, losses below it. */
  readonly kind?: "lines" | "bars";
  /** The unit of the values; counts by default. */
  readonly measure?: Measure;
  /** Charts of one group show the same part of the time, and point at the same instant. */
  readonly group?: string;
  /** Where more time has passed before an instant, something is missing: a gap. */
  readonly getGapMs: (at: number) => number;
}

const HEIGHT = 260;

/** Points are drawn where there are few, so that one between two gaps is seen. */
const POINTS_MAX = 40;

/** Reads a colour of the style sheet, such as `--accent`. */
type ReadColour = (name: string) => string;

/** The part of the time that a chart shows, in milliseconds since 1970 UTC. */
export interface PlotView {
  readonly from: number;
  readonly to: number;
  /** Whether that is all. */
  readonly isWhole: boolean;
}

/** A chart that is drawn. */
export interface Plot {
  /**
   * Shows another part of the time.
   *
   * @param factor The length of the new part, as a fraction of the shown one.
   * @param shift How far the part moves, as a fraction of its length; earlier if negative.
   */
  show(factor: number, shift?: number): void;
  /**
   * Points at another instant.
   *
   * @param steps How many values later than the one that is pointed at; infinite for the last.
   * @returns The values there, as a sentence for screen readers.
   */
  step(steps: number): string;
  remove(): void;
}

/** The least number of values that remain when a chart is zoomed in. */
const SHOWN_MIN = 3;

/**
 * Draws a chart.
 *
 * @param onView Called with the shown part whenever it changes.
 */
export function drawPlot(
  host: HTMLElement,
  data: PlotData,
  onView: (view: PlotView) => void,
): Plot {
  const style = getComputedStyle(host);
  const readColour: ReadColour = (name) => style.getPropertyValue(name).trim();
  const { times, columns } = insertGaps(data);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const margin = getTimeMargin(times, data.kind === "bars");
  const readView = ({ scales }: uPlot) => ({
    from: (scales["x"]?.min ?? first) + margin,
    to: (scales["x"]?.max ?? last) - margin,
  });
  const options = createOptions(data, readColour, times, host.clientWidth);
  const reportView = (plot: uPlot, scale: string) => {
    if (scale !== "x") return;
    const { from, to } = readView(plot);
    // A second is less than a chart can show.
    onView({ from: from * 1000, to: to * 1000, isWhole: from < first + 1 && to > last - 1 });
  };
  const chart = new uPlot(
    { ...options, hooks: { setScale: [reportView] } },
    [times, ...columns],
    host,
  );
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0 && host.clientWidth !== chart.width)
      chart.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  observer.observe(host);
  return {
    show(factor, shift = 0) {
      const { from, to } = readView(chart);
      const least = Math.min(last - first, ((last - first) / times.length) * SHOWN_MIN);
      const length = Math.min(last - first, Math.max(least, (to - from) * factor));
      const centre = (from + to) / 2 + shift * (to - from);
      const min = Math.max(first, Math.min(last - length, centre - length / 2));
      for (const plot of findGroup(chart, data)) plot.setScale("x", { min, max: min + length });
    },
    step(steps) {
      const row = findFurtherRow(chart, new Set(data.instants), steps);
      if (row === undefined) return "Nothing is known here";
      const time = chart.data[0][row] ?? 0;
      for (const plot of findGroup(chart, data)) {
        plot.setCursor({ left: plot.valToPos(time, "x"), top: 0 });
      }
      return describeRow(chart, row);
    },
    remove() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** The charts that show the same part of the time. */
function findGroup(chart: uPlot, { group }: PlotData): readonly uPlot[] {
  return group === undefined ? [chart] : uPlot.sync(group).plots;
}

/** Finds the row that is some steps later, among those that are shown and have an observation. */
function findFurtherRow(
  chart: uPlot,
  observed: ReadonlySet<number>,
  steps: number,
): number | undefined {
  const { min = 0, max = 0 } = chart.scales["x"] ?? {};
  // A row without an observation only separates two lines.
  const shown = Array.from(chart.data[0]).flatMap((time, index) =>
    time >= min && time <= max && observed.has(Math.round(time * 1000)) ? [index] : [],
  );
  const { idx } = chart.cursor;
  // Without a pointer, the first step to the left is to the newest value.
  const outside = steps < 0 ? shown.length : -1;
  const from = typeof idx === "number" ? shown.findIndex((row) => row >= idx) : outside;
  return shown[Math.max(0, Math.min(shown.length - 1, from + steps))];
}

function describeRow(chart: uPlot, row: number): string {
  return chart.series
    .map(({ label, value }, nth) => {
      const known = chart.data[nth]?.[row] ?? null;
      const text = typeof value === "function" ? value(chart, known as number, nth, row) : known;
      return nth === 0 ? String(text).replace(/ \(.+\)/, "") : `${String(label)}: ${String(text)}`;
    })
    .join(", ");
}

/**
 * Inserts an unknown value where something is missing, so that the line has a gap there. It is in the
 * middle, because uPlot makes bars no wider than the least time between two values.
 */
function insertGaps({ instants, series, getGapMs }: PlotData) {
  const times: number[] = [];
  const columns: (number | null)[][] = series.map(() => []);
  for (const [index, at] of instants.entries()) {
    const previous = instants[index - 1];
    if (previous !== undefined && at - previous > getGapMs(at)) {
      times.push((previous + at) / 2000);
      for (const column of columns) column.push(null);
    }
    times.push(at / 1000);
    for (const [nth, column] of columns.entries()) column.push(series[nth]?.values[index] ?? null);
  }
  return { times, columns };
}

function createOptions(
  data: PlotData,
  readColour: ReadColour,
  times: readonly number[],
  width: number,
): uPlot.Options {
  const { series, kind, measure = "count", group, timeScale, leastSpan } = data;
  const isBars = kind === "bars";
  const axis = {
    stroke: readColour("--muted"),
    grid: { stroke: readColour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const unit = measure === "percent" ? " %" : "";
  return {
    width,
    height: HEIGHT,
    ...(group === undefined ? {} : { cursor: { sync: { key: group } } }),
    ...(timeScale === "utc" && {
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
    }),
    scales: {
      x: { time: true, range: createTimeRange(times, isBars) },
      ...(leastSpan !== undefined && {
        y: { range: createValueRange(leastSpan, measure === "count" ? 0 : -Infinity) },
      }),
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 36,
        gap: 9,
        space: 72,
        values: (_, ticks, __, ___, step) => ticks.map((tick) => formatTick(tick, step, timeScale)),
      },
      {
        ...axis,
        size: (_, texts: string[] | null) =>
          Math.max(28, ...(texts ?? []).map((text) => text.length * 7 + 10)),
        values: (_, ticks) => formatTicks(ticks).map((text) => text + unit),
      },
    ],
    series: [
      {
        label: "Time",
        value: ({ data: [all] }, seconds: number | null) =>
          describeTime(data, seconds ?? all.at(-1)),
      },
      ...series.map((_, nth) => createSeries(data, nth, readColour, times.length)),
    ],
  };
}

/** @param count The number of instants. */
function createSeries(
  { series, kind, measure = "count", unfinishedFrom }: PlotData,
  nth: number,
  readColour: ReadColour,
  count: number,
): uPlot.Series {
  const isBars = kind === "bars";
  const label = series[nth]?.label ?? "";
  const isSingle = series.length === 1;
  const stroke = isSingle ? readColour("--accent") : getSeriesColour(readColour, nth);
  return {
    label,
    stroke,
    width: 2,
    spanGaps: false,
    points: { show: !isBars && count < POINTS_MAX, size: 4, fill: stroke },
    // While nothing is pointed at, the legend has the newest values.
    value: ({ data: columns }, value: number | null, index, row: number | null) =>
      formatMeasure(row === null ? columns[index]?.at(-1) : value, measure),
    ...(isSingle && !isBars ? { fill: readColour("--area") } : {}),
    ...(isBars ? createBars(readColour, unfinishedFrom) : {}),
  };
}

function describeTime(
  { timeScale, unfinishedFrom = Infinity }: PlotData,
  seconds?: number,
): string {
  if (seconds === undefined) return "–";
  const at = seconds * 1000;
  const ending = at < unfinishedFrom ? "" : ", so far";
  if (timeScale === "utc") return formatUtcDate(at) + ending;
  return `${formatLocalPoint(at)} (${formatUtc(at).replace(/:00 UTC$/, " UTC")})${ending}`;
}

/** For several series, hues that are far from each other. */
function getSeriesColour(readColour: ReadColour, index: number): string {
  return `hsl(${(210 + index * 137.5) % 360} 65% ${readColour("--series-lightness")})`;
}
