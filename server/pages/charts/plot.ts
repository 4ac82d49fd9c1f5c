/** Draws a chart with uPlot: fits the width, marks gaps, zooms, and steps through its values. */
import uPlot from "uplot";
import { createOptions, type PlotData } from "./plot-options.ts";

const HEIGHT = 260;

/** The part of the time that a chart shows, in milliseconds since 1970 UTC. */
export type PlotView = Readonly<{ from: number; to: number; isWhole: boolean }>;

const SHOWN_MIN = 3;

export function drawPlot(host: HTMLElement, data: PlotData, onView: (view: PlotView) => void) {
  const style = getComputedStyle(host);
  const { times, columns } = insertGaps(data);
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  // Half a bar at both ends.
  const margin = data.kind === "bars" ? (last - first) / Math.max(1, times.length - 1) / 2 : 0;
  const readView = ({ scales }: uPlot) => ({
    from: (scales["x"]?.min ?? first) + margin,
    to: (scales["x"]?.max ?? last) - margin,
  });
  const readColour = (name: string) => style.getPropertyValue(name).trim();
  const reportView = (plot: uPlot, scale: string) => {
    if (scale !== "x") return;
    const { from, to } = readView(plot);
    // A difference of a second is too small to see in a chart.
    onView({ from: from * 1000, to: to * 1000, isWhole: from < first + 1 && to > last - 1 });
  };
  const chart = new uPlot(
    {
      ...createOptions(data, readColour, times, margin),
      width: host.clientWidth,
      height: HEIGHT,
      hooks: { setScale: [reportView] },
    },
    [times, ...columns],
    host,
  );
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0 && host.clientWidth !== chart.width)
      chart.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  observer.observe(host);
  return {
    /** Scales the shown time by `factor`; moves it by `shift` of its length, earlier if < 0. */
    show(factor: number, shift = 0): void {
      const { from, to } = readView(chart);
      const least = Math.min(last - first, ((last - first) / times.length) * SHOWN_MIN);
      const length = Math.min(last - first, Math.max(least, (to - from) * factor));
      const centre = (from + to) / 2 + shift * (to - from);
      const min = Math.max(first, Math.min(last - length, centre - length / 2));
      for (const plot of findGroup(chart, data)) plot.setScale("x", { min, max: min + length });
    },
    /** Points at the values `steps` later, and returns their text for screen readers. */
    step(steps: number): string {
      const row = findFurtherRow(chart, new Set(data.instants), steps);
      if (row === undefined) return "Nothing is known here";
      const time = chart.data[0][row] ?? 0;
      for (const plot of findGroup(chart, data)) {
        plot.setCursor({ left: plot.valToPos(time, "x"), top: 0 });
      }
      return describeRow(chart, row);
    },
    remove(): void {
      observer.disconnect();
      chart.destroy();
    },
  };
}

const findGroup = (chart: uPlot, { group }: PlotData): readonly uPlot[] =>
  group === undefined ? [chart] : uPlot.sync(group).plots;

/** Finds the row `steps` after the pointer, among shown rows that have an observation. */
function findFurtherRow(chart: uPlot, observed: ReadonlySet<number>, steps: number) {
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

const describeRow = (chart: uPlot, row: number): string =>
  chart.series
    .map(({ label, value }, nth) => {
      const known = chart.data[nth]?.[row] ?? null;
      const text = typeof value === "function" ? value(chart, known as number, nth, row) : known;
      return nth === 0 ? String(text).replace(/ \(.+\)/, "") : `${String(label)}: ${String(text)}`;
    })
    .join(", ");

/** Inserts an unknown value in the middle of gaps: the least time between values sets bar width. */
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
