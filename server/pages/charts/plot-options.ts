/** The data of a chart, and the options of uPlot for it: axes, ranges, series, bars, colours. */
import uPlot from "uplot";
import {
  formatMeasure,
  formatPoint,
  formatTick,
  formatTicks,
  formatUtc,
  type Measure,
  type TimeScale,
} from "../format.ts";

export interface PlotData {
  /** Milliseconds since 1970 UTC, rising. */
  readonly instants: readonly number[];
  /** `utc` if the instants are starts of days, weeks or months. */
  readonly timeScale: TimeScale;
  /** Values from here on can still change: the legend says “so far”, and bars are hatched. */
  readonly unfinishedFrom?: number | undefined;
  /** The least range of the vertical axis, so that small differences do not look large. */
  readonly leastSpan?: number | undefined;
  readonly series: readonly {
    readonly label: string;
    /** The values, one for each instant; `null` is unknown, and drawn as a gap. */
    readonly values: readonly (number | null)[];
  }[];
  /** `bars` shows differences: gains above the line, losses below it. */
  readonly kind?: "lines" | "bars";
  readonly measure?: Measure;
  /** Charts of one group show the same part of the time, and point at the same instant. */
  readonly group?: string;
  readonly isDark: boolean;
  /** The longest time before an instant that is not a gap; a longer time is drawn as a gap. */
  readonly getGapMs: (at: number) => number;
}

type ReadColour = (name: string) => string;

/** A chart with fewer values draws points, so that a value between two gaps is seen. */
const POINTS_MAX = 40;

export function createOptions(
  data: PlotData,
  readColour: ReadColour,
  times: readonly number[],
  margin: number,
): Omit<uPlot.Options, "width" | "height"> {
  const { series, measure = "count", group, timeScale, leastSpan } = data;
  const axis = {
    stroke: readColour("--muted"),
    grid: { stroke: readColour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const unit = measure === "percent" ? " %" : "";
  return {
    ...(group === undefined ? {} : { cursor: { sync: { key: group } } }),
    ...(timeScale === "utc" && {
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
    }),
    scales: {
      x: { time: true, range: createTimeRange(times, margin) },
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

function createTimeRange(times: readonly number[], margin: number): uPlot.Range.Function {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  if (first === last) return () => [first - 43_200, first + 43_200];
  return (_, from, to) => [from - margin, to + margin];
}

/** Fits the values. Widens a range that is less than `leastSpan`, but not below `floor`. */
function createValueRange(leastSpan: number, floor: number): uPlot.Range.Function {
  return (_, min, max) => {
    const missing = Math.max(0, leastSpan - (max - min)) / 2;
    return uPlot.rangeNum(Math.max(floor, min - missing), max + missing, 0.1, true);
  };
}

function describeTime(
  { timeScale, unfinishedFrom = Infinity }: PlotData,
  seconds: number | undefined,
): string {
  if (seconds === undefined) return "–";
  const at = seconds * 1000;
  const utc = timeScale === "utc" ? "" : ` (${formatUtc(at).replace(/:00 UTC$/, " UTC")})`;
  return `${formatPoint(at, timeScale)}${utc}${at < unfinishedFrom ? "" : ", so far"}`;
}

function createSeries(
  { series, kind, measure = "count", unfinishedFrom, isDark }: PlotData,
  nth: number,
  readColour: ReadColour,
  count: number,
): uPlot.Series {
  const isBars = kind === "bars";
  const isSingle = series.length === 1;
  // The hues of several series are far from each other.
  const hue = (210 + nth * 137.5) % 360;
  const stroke = isSingle ? readColour("--accent") : `hsl(${hue} 65% ${isDark ? 65 : 45}%)`;
  return {
    label: series[nth]?.label ?? "",
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

/** Bars in two colours: gains above the line, losses below it. Unfinished ones are hatched. */
function createBars(readColour: ReadColour, unfinishedFrom = Infinity): Partial<uPlot.Series> {
  const [gain, loss] = [readColour("--accent"), readColour("--loss")];
  const hatched = { [gain]: createHatching(gain), [loss]: createHatching(loss) };
  const paths = uPlot.paths.bars?.({
    size: [0.7, 24],
    disp: {
      fill: {
        unit: 3,
        values: (plot, index) =>
          Array.from(plot.data[index] ?? [], (value, row) => {
            const colour = (value ?? 0) < 0 ? loss : gain;
            const isFinished = (plot.data[0][row] ?? 0) * 1000 < unfinishedFrom;
            return isFinished ? colour : hatched[colour];
          }),
      },
    },
  });
  return { width: 0, fill: gain, ...(paths === undefined ? {} : { paths }) };
}

/** Creates a pattern of diagonal lines. uPlot accepts it as a colour, although its types do not. */
function createHatching(colour: string): string {
  const size = 8;
  const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
  const context = canvas.getContext("2d");
  if (context === null) return colour;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  // The outer lines continue in the neighbouring tiles.
  for (const offset of [-size, 0, size]) {
    context.moveTo(offset, size);
    context.lineTo(offset + size, 0);
  }
  context.stroke();
  const pattern: unknown = context.createPattern(canvas, "repeat");
  return (pattern as string | null) ?? colour;
}
