/** A chart of counts over time, its table, and its CSV. */
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import {
  formatCompact,
  formatDistinct,
  formatExact,
  formatLocal,
  formatUtc,
  toCsv,
} from "../format.ts";
import { Change, Count, Instant } from "./figures.tsx";

/** A series of a chart. */
export interface ChartSeries {
  readonly label: string;
  /** One for each instant; `null` is unknown, and drawn as a gap. */
  readonly values: readonly (number | null)[];
}

interface ChartProperties {
  readonly title: string;
  /** Milliseconds since 1970 UTC, rising. */
  readonly instants: readonly number[];
  readonly series: readonly ChartSeries[];
  /** `bars` shows differences: gains above the line, losses below it. */
  readonly kind?: "lines" | "bars";
  /** Where the time between two instants is longer, something is missing: a gap. */
  readonly gapMs: number;
  readonly fileName: string;
}

export function Chart(properties: ChartProperties) {
  const { title, instants, series, kind = "lines" } = properties;
  const host = useRef<HTMLDivElement>(null);
  const isDark = useColourScheme();
  useEffect(() => {
    if (host.current === null) return undefined;
    return drawChart(host.current, properties);
  }, [instants, series, kind, isDark]);
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={host} class="plot" aria-hidden="true" />
      <div class="row">
        <button type="button" onClick={() => download(properties)}>
          CSV
        </button>
        <details>
          <summary>Table of {title}</summary>
          <ChartTable {...properties} />
        </details>
      </div>
      <p class="hint">Drag over a part of the chart to zoom in; double-click to zoom out.</p>
    </figure>
  );
}

function ChartTable({ title, instants, series, kind }: ChartProperties) {
  const Cell = kind === "bars" ? Change : Count;
  return (
    <div class="scroll tall" role="region" aria-label={title} tabIndex={0}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col" class="numeric">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {instants.map((at, index) => (
            <tr key={at}>
              <th scope="row">
                <Instant value={new Date(at).toISOString()} />
              </th>
              {series.map(({ label, values }) => (
                <td key={label} class="numeric">
                  <Cell value={values[index]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function download({ instants, series, fileName }: ChartProperties): void {
  const header = ["timestamp", ...series.map(({ label }) => label)];
  const rows = instants.map((at, index) => [
    new Date(at).toISOString(),
    ...series.map(({ values }) => values[index] ?? null),
  ]);
  const url = URL.createObjectURL(new Blob([toCsv(header, rows)], { type: "text/csv" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: fileName });
  link.click();
  URL.revokeObjectURL(url);
}

/** Whether the page is dark; the component renders again when that changes. */
function useColourScheme(): boolean {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const follow = () => setDark(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return isDark;
}

/** Inserts an unknown value where something is missing, so that the line has a gap there. */
function insertGaps({ instants, series, gapMs }: ChartProperties) {
  const times: number[] = [];
  const columns: (number | null)[][] = series.map(() => []);
  for (const [index, at] of instants.entries()) {
    const previous = instants[index - 1];
    if (previous !== undefined && at - previous > gapMs) {
      times.push((previous + 1) / 1000);
      for (const column of columns) column.push(null);
    }
    times.push(at / 1000);
    for (const [nth, column] of columns.entries()) column.push(series[nth]?.values[index] ?? null);
  }
  return { times, columns };
}

const HEIGHT = 280;

function drawChart(host: HTMLElement, properties: ChartProperties): () => void {
  const { series, kind } = properties;
  const style = getComputedStyle(host);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const { times, columns } = insertGaps(properties);
  const axis = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
  };
  const isBars = kind === "bars";
  const bars = uPlot.paths.bars?.({ size: [0.7, 24] });
  const formatValue = (value: number | null, isPointed: boolean) => {
    if (value !== null) return `${formatCompact(value)} (${formatExact(value)})`;
    return isPointed ? "unknown" : "–";
  };
  const drawn = isBars ? splitSigns(series, columns) : { series, columns };
  const options: uPlot.Options = {
    width: host.clientWidth,
    height: HEIGHT,
    scales: { x: { time: true } },
    axes: [
      { ...axis, values: (_, ticks, __, ___, step) => ticks.map((tick) => formatTick(tick, step)) },
      {
        ...axis,
        size: 64,
        values: (_, ticks) => formatDistinct(ticks),
      },
    ],
    series: [
      {
        label: "Time",
        value: (_, seconds: number | null) =>
          seconds === null ? "–" : `${formatLocal(seconds * 1000)} · ${formatUtc(seconds * 1000)}`,
      },
      ...drawn.series.map(({ label }, nth): uPlot.Series => {
        const stroke = isBars
          ? colour(nth % 2 === 0 ? "--accent" : "--loss")
          : getSeriesColour(colour, nth, drawn.series.length);
        return {
          label,
          stroke,
          width: 2,
          spanGaps: false,
          ...(isBars ? { fill: stroke } : {}),
          ...(isBars && bars !== undefined ? { paths: bars } : {}),
          points: { show: !isBars && times.length < 40, size: 5 },
          value: (_, value: number | null, __, index: number | null) =>
            formatValue(value, index !== null),
        };
      }),
    ],
  };
  const chart = new uPlot(options, [times, ...drawn.columns], host);
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0) chart.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  observer.observe(host);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

/** Formats a tick of the time axis: the shorter the step between two, the finer. */
function formatTick(seconds: number, stepSeconds: number): string {
  const date = new Date(seconds * 1000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  if (stepSeconds < 86_400 && !isMidnight) {
    return date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  }
  return stepSeconds < 28 * 86_400
    ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })
    : date.toLocaleDateString("en-GB", { month: "short", year: "numeric" });
}

/** Draws gains and losses in two colours: each series becomes two. */
function splitSigns(
  series: readonly ChartSeries[],
  columns: readonly (readonly (number | null)[])[],
) {
  const pick = (column: readonly (number | null)[], isLoss: boolean) =>
    column.map((value) => (value === null || value < 0 === isLoss ? value : null));
  return {
    series: series.flatMap((one) => [one, { ...one, label: `${one.label}, losses` }]),
    columns: columns.flatMap((column) => [pick(column, false), pick(column, true)]),
  };
}

/** The accent for one series; for several, hues that are far from each other. */
function getSeriesColour(colour: (name: string) => string, index: number, count: number): string {
  if (count === 1) return colour("--accent");
  return `hsl(${(210 + index * 137.5) % 360} 65% ${colour("--series-lightness")})`;
}
