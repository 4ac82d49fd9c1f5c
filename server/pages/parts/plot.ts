/** Draws a chart with uPlot, in the colours of the style sheet. */
import uPlot from "uplot";
import { formatDistinct, formatExact, formatLocal, formatTick, formatUtc } from "../format.ts";

/** A series of a chart. */
interface PlotSeries {
  readonly label: string;
  /** One for each instant; `null` is unknown, and drawn as a gap. */
  readonly values: readonly (number | null)[];
}

/** What a chart draws. */
export interface PlotData {
  /** Milliseconds since 1970 UTC, rising. */
  readonly instants: readonly number[];
  readonly series: readonly PlotSeries[];
  /** `bars` shows differences: gains above the line, losses below it. */
  readonly kind?: "lines" | "bars";
  /** Where more time has passed before an instant, something is missing: a gap. */
  readonly getGapMs: (at: number) => number;
}

const HEIGHT = 280;

/** Points are drawn where there are few, so that one between two gaps is seen. */
const POINTS_MAX = 40;

/** Reads a colour of the style sheet, such as `--accent`. */
type ReadColour = (name: string) => string;

/**
 * Draws a chart.
 *
 * @returns What removes it.
 */
export function drawPlot(host: HTMLElement, data: PlotData): () => void {
  const style = getComputedStyle(host);
  const readColour: ReadColour = (name) => style.getPropertyValue(name).trim();
  const { times, columns } = insertGaps(data);
  const options = createOptions(data, readColour, times, host.clientWidth);
  const chart = new uPlot(options, [times, ...columns], host);
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0 && host.clientWidth !== chart.width)
      chart.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  observer.observe(host);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

/** Inserts an unknown value where something is missing, so that the line has a gap there. */
function insertGaps({ instants, series, getGapMs }: PlotData) {
  const times: number[] = [];
  const columns: (number | null)[][] = series.map(() => []);
  for (const [index, at] of instants.entries()) {
    const previous = instants[index - 1];
    if (previous !== undefined && at - previous > getGapMs(at)) {
      times.push((previous + 1) / 1000);
      for (const column of columns) column.push(null);
    }
    times.push(at / 1000);
    for (const [nth, column] of columns.entries()) column.push(series[nth]?.values[index] ?? null);
  }
  return { times, columns };
}

function createOptions(
  { series, kind }: PlotData,
  readColour: ReadColour,
  times: readonly number[],
  width: number,
): uPlot.Options {
  const isBars = kind === "bars";
  const axis = {
    stroke: readColour("--muted"),
    grid: { stroke: readColour("--line"), width: 1 },
    ticks: { stroke: readColour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
  };
  const formatTime = (seconds: number | null) =>
    seconds === null ? "–" : `${formatLocal(seconds * 1000)} (${formatUtc(seconds * 1000)})`;
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: true, range: createTimeRange(times, isBars) } },
    axes: [
      { ...axis, values: (_, ticks, __, ___, step) => ticks.map((tick) => formatTick(tick, step)) },
      { ...axis, size: 64, values: (_, ticks) => formatDistinct(ticks) },
    ],
    series: [
      { label: "Time", value: (_, seconds: number | null) => formatTime(seconds) },
      ...series.map(({ label }, nth): uPlot.Series => {
        const stroke =
          series.length === 1 ? readColour("--accent") : getSeriesColour(readColour, nth);
        return {
          label,
          stroke,
          width: 2,
          spanGaps: false,
          points: { show: !isBars && times.length < POINTS_MAX, size: 4, fill: stroke },
          value: (_, value: number | null, __, index: number | null) =>
            value !== null ? formatExact(value) : index === null ? "–" : "unknown",
          ...(isBars ? createBars(readColour) : {}),
        };
      }),
    ],
  };
}

/** Bars in two colours: gains above the line, losses below it. */
function createBars(readColour: ReadColour): Partial<uPlot.Series> {
  const [gain, loss] = [readColour("--accent"), readColour("--loss")];
  const paths = uPlot.paths.bars?.({
    size: [0.7, 24],
    disp: {
      fill: {
        unit: 3,
        values: (plot, index) =>
          Array.from(plot.data[index] ?? [], (value) => ((value ?? 0) < 0 ? loss : gain)),
      },
    },
  });
  return { width: 0, fill: gain, ...(paths === undefined ? {} : { paths }) };
}

/** Leaves room for half a bar at both ends, and shows a day around a single point. */
function createTimeRange(times: readonly number[], isBars: boolean): uPlot.Range.Function {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  if (first === last) return () => [first - 43_200, first + 43_200];
  const margin = isBars ? (last - first) / (times.length - 1) / 2 : 0;
  return (_, from, to) => [from - margin, to + margin];
}

/** For several series, hues that are far from each other. */
function getSeriesColour(readColour: ReadColour, index: number): string {
  return `hsl(${(210 + index * 137.5) % 360} 65% ${readColour("--series-lightness")})`;
}
