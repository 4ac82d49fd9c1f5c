/** The options of uPlot for a chart: axes, ranges, series, legend. */
import type uPlot from "uplot";
import {
  formatMeasure,
  formatPoint,
  formatTick,
  formatTicks,
  formatUtc,
  type TimeScale,
} from "../format.ts";
import { createBars } from "./bars.ts";
import { getSeriesColour, type ChartStyle, type ReadColour } from "./canvas.ts";
import { createEndLabels } from "./end-labels.ts";
import { findKnownRow, type PlotData, type PlotRows } from "./plot-data.ts";
import { getUplot } from "./uplot.ts";

/** A chart with fewer values draws points, so that a value between two gaps is seen. */
const POINTS_MAX = 40;

/** The distances of ticks of ages, in seconds: hours and days, not tens of them. */
const AGE_STEPS = [60, 300, 900, 1800, ...[1, 2, 3, 6, 12].map((hours) => hours * 3600)].concat(
  [1, 2, 7, 14, 30, 90, 180, 365, 730, 3650].map((days) => days * 86_400),
);

/** Half a bar at both ends, in seconds. */
export const getMargin = ({ kind }: PlotData, { times }: PlotRows): number =>
  kind === "bars" ? ((times.at(-1) ?? 0) - (times[0] ?? 0)) / Math.max(1, times.length - 1) / 2 : 0;

/**
 * Creates the options of a chart.
 *
 * @param enlargement How many times as large everything is; for a picture.
 */
export function createOptions(
  data: PlotData,
  rows: PlotRows,
  { readColour, fontFamily }: ChartStyle,
  enlargement = 1,
): Omit<uPlot.Options, "width" | "height"> {
  const { series, kind, group, timeScale } = data;
  const size = (pixels: number) => Math.round(pixels * enlargement);
  const font = `${size(12)}px ${fontFamily}`;
  const hasEndLabels = kind !== "bars" && series.length > 1;
  const labels = createEndLabels({ font, colour: readColour("--text"), enlargement });
  // Half a date of the time axis goes beyond the plot.
  const sidePadding: uPlot.PaddingSide = hasEndLabels ? labels.measureRoom : size(28);
  return {
    // The legend has the values of the row, and not those of the nearest rows.
    cursor: { sync: { key: group }, hover: { skip: [] } },
    padding: [size(10), sidePadding, 0, 0],
    ...(timeScale === "utc" && {
      tzDate: (seconds) => getUplot().tzDate(new Date(seconds * 1000), "UTC"),
    }),
    scales: {
      x: {
        time: timeScale !== "age",
        range: createTimeRange(rows.times, getMargin(data, rows)),
      },
      y: createValueScale(data),
    },
    axes: createAxes(data, readColour, font, size),
    series: [
      {
        label: timeScale === "age" ? "Age" : "Time",
        value: (chart, seconds: number | null) =>
          describeTime(data, seconds ?? rows.times[findNewestRow(chart, rows)]),
      },
      ...series.map((_, nth) => createSeries(data, rows, nth, readColour, enlargement)),
    ],
    hooks: { draw: hasEndLabels ? [labels.draw] : [] },
  };
}

function createAxes(
  { measure = "count", timeScale, isLog }: PlotData,
  readColour: ReadColour,
  font: string,
  size: (pixels: number) => number,
): uPlot.Axis[] {
  const unit = measure === "percent" ? " %" : "";
  const axis = {
    stroke: readColour("--muted"),
    grid: { stroke: readColour("--line"), width: size(1) },
    ticks: { show: false },
    font,
  };
  return [
    {
      ...axis,
      grid: { show: false },
      size: size(36),
      gap: size(9),
      space: size(72),
      ...(timeScale === "age" && { incrs: AGE_STEPS }),
      values: (_, ticks, __, ___, step) => ticks.map((tick) => formatTick(tick, step, timeScale)),
    },
    {
      ...axis,
      gap: size(5),
      space: size(30),
      size: (_, texts: string[] | null) =>
        size(Math.max(28, ...(texts ?? []).map((text) => text.length * 7 + 10))),
      // A logarithmic scale has more ticks than texts. It has lines for the texts only.
      ...(isLog && { grid: { ...axis.grid, filter: filterTicks } }),
      values: (_, ticks: (number | null)[]) =>
        ticks.map((tick) => (tick === null ? "" : `${formatTicks([tick]).join("")}${unit}`)),
    },
  ];
}

const filterTicks: uPlot.Axis.Filter = (chart, ticks, axis, ...others) =>
  chart.axes[axis]?.filter?.(chart, ticks, axis, ...others) ?? ticks;

function createTimeRange(times: readonly number[], margin: number): uPlot.Range.Function {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  // An age is never negative.
  if (first === last) return () => [Math.max(0, first - 43_200), first + 43_200];
  return (_, from, to) => [from - margin, to + margin];
}

function createValueScale({ isLog, leastSpan, measure = "count" }: PlotData): uPlot.Scale {
  if (isLog) return { distr: 3, log: 10, range: (_, min, max) => createLogRange(min, max) };
  if (leastSpan === undefined) return {};
  return { range: createValueRange(leastSpan, measure === "count" ? 0 : -Infinity) };
}

/** Fits positive values: from 1.5 to 240, the range is 1 to 300. */
function createLogRange(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [1, 10];
  const getStep = (value: number) => 10 ** Math.floor(Math.log10(value));
  const from = Math.floor(min / getStep(min)) * getStep(min);
  const to = Math.ceil(max / getStep(max)) * getStep(max);
  return [from, to > from ? to : from + getStep(from)];
}

/** Fits the values. Widens a range that is less than `leastSpan`, but not below `floor`. */
function createValueRange(leastSpan: number, floor: number): uPlot.Range.Function {
  return (_, min, max) => {
    const missing = Math.max(0, leastSpan - (max - min)) / 2;
    return getUplot().rangeNum(Math.max(floor, min - missing), max + missing, 0.1, true);
  };
}

/** Describes a time, with UTC beside local time. */
export function describeTime(
  { timeScale, unfinishedFrom = Infinity }: Pick<PlotData, "timeScale" | "unfinishedFrom">,
  seconds: number | undefined,
): string {
  if (seconds === undefined) return "–";
  const at = seconds * 1000;
  return `${formatPoint(at, timeScale)}${describeUtc(at, timeScale)}${at < unfinishedFrom ? "" : ", so far"}`;
}

function describeUtc(at: number, timeScale: TimeScale): string {
  if (timeScale === "age") return " after publication";
  return timeScale === "utc" ? "" : ` (${formatUtc(at).replace(/:00 UTC$/, " UTC")})`;
}

/**
 * Finds the newest shown row: the legend has its values while nothing is pointed at. Items have
 * different ages, so with `nth`, it is the newest row with a value of this series.
 */
function findNewestRow({ scales }: uPlot, { times, known }: PlotRows, nth?: number): number {
  const { max = null } = scales["x"] ?? {};
  return times.findLastIndex(
    (time, row) =>
      (max === null || time <= max) && (nth === undefined || known[nth]?.[row] != null),
  );
}

export const getColour = (
  { series, isDark }: PlotData,
  nth: number,
  readColour: ReadColour,
): string => (series.length === 1 ? readColour("--accent") : getSeriesColour(nth, isDark));

function createSeries(
  data: PlotData,
  rows: PlotRows,
  nth: number,
  readColour: ReadColour,
  enlargement: number,
): uPlot.Series {
  const { series, kind, measure = "count", unfinishedFrom } = data;
  const isBars = kind === "bars";
  const count = rows.known[nth]?.filter((value) => value !== null).length ?? 0;
  const stroke = getColour(data, nth, readColour);
  return {
    label: series[nth]?.label ?? "",
    stroke,
    width: 2 * enlargement,
    spanGaps: false,
    points: {
      show: !isBars && count < POINTS_MAX,
      size: 4 * enlargement,
      width: enlargement,
      fill: stroke,
    },
    // What is drawn is not all that is known.
    value: (chart, _, __, row: number | null) => {
      const shown = row ?? findNewestRow(chart, rows, data.timeScale === "age" ? nth : undefined);
      return formatMeasure(rows.known[nth]?.[findKnownRow(rows, nth, shown)], measure);
    },
    ...(series.length === 1 && !isBars ? { fill: readColour("--area") } : {}),
    ...(isBars ? createBars(readColour, unfinishedFrom, enlargement) : {}),
  };
}
