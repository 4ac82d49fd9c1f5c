/** Draws a chart with uPlot: fits its width, shows a part of the time, and points at its values. */
import type uPlot from "uplot";
import { formatMeasure, formatPoint } from "../format.ts";
import { createChartStyle } from "./canvas.ts";
import { arrangeRows, type PlotData } from "./plot-data.ts";
import { createOptions } from "./plot-options.ts";
import { createTooltip, readRow } from "./tooltip.tsx";
import type { View } from "./view.ts";
import { getUplot } from "./uplot.ts";

export const PLOT_HEIGHT = 260;

export type Plot = ReturnType<typeof drawPlot>;

/** Outside of the chart: uPlot then points at nothing. */
const NOWHERE = { left: -10, top: -10 };

/**
 * Draws a chart.
 *
 * @param onZoom Called when the visitor drags over a part, or with nothing for all.
 */
export function drawPlot(
  host: HTMLElement,
  data: PlotData,
  view: View | undefined,
  onZoom: (view: View | undefined) => void,
) {
  const rows = arrangeRows(data);
  const { times, drawn } = rows;
  const style = createChartStyle(host);
  const { readColour } = style;
  const options = createOptions(data, rows, style);
  const tooltip = createTooltip(data, rows, readColour);
  const whole = { from: (times[0] ?? 0) * 1000, to: (times.at(-1) ?? 0) * 1000 };
  const zoomToSelection = (chart: uPlot) => {
    const { left, width } = chart.select;
    if (width === 0) return;
    const [from = 0, to = 0] = [left, left + width].map((x) => chart.posToVal(x, "x") * 1000);
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    // The other charts of the group have the selection too, without an event of their own.
    if (chart.cursor.event != null) onZoom({ from, to });
  };
  const chart = new (getUplot())(
    {
      ...options,
      cursor: {
        ...options.cursor,
        drag: { setScale: false },
        bind: { dblclick: () => () => (onZoom(undefined), null) },
      },
      width: host.clientWidth,
      height: PLOT_HEIGHT,
      hooks: { ...options.hooks, ...tooltip, setSelect: [zoomToSelection] },
    },
    [times, ...drawn] as uPlot.AlignedData,
    host,
  );
  const show = (shown: View | undefined) => {
    const { from, to } = shown ?? whole;
    if (from < to) chart.setScale("x", { min: from / 1000, max: to / 1000 });
  };
  if (view !== undefined) show(view);
  followFingers(chart);
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0 && host.clientWidth !== chart.width)
      chart.setSize({ width: host.clientWidth, height: PLOT_HEIGHT });
  });
  observer.observe(host);
  const observed = new Set(data.instants);
  return {
    data,
    show,
    /** Whether a series is shown: a click in the legend hides it. */
    isShown: (nth: number): boolean => chart.series[nth + 1]?.show !== false,
    /** Finds the time of the value `steps` after the pointer; of those shown and observed. */
    findTime(steps: number): number | undefined {
      const { min = 0, max = 0 } = chart.scales["x"] ?? {};
      // A row without an observation only separates two lines.
      const shown = times.flatMap((time, row) =>
        time >= min && time <= max && observed.has(Math.round(time * 1000)) ? [row] : [],
      );
      const { idx } = chart.cursor;
      // Without a pointer, the first step to the left is to the newest value.
      const outside = steps < 0 ? shown.length : -1;
      const from = typeof idx === "number" ? shown.findIndex((row) => row >= idx) : outside;
      const row = shown[Math.max(0, Math.min(shown.length - 1, from + steps))];
      return row === undefined ? undefined : times[row];
    },
    /** Points at a time, or at nothing. */
    point(time: number | undefined): void {
      if (time === undefined) chart.setCursor(NOWHERE);
      else chart.setCursor({ left: chart.valToPos(time, "x"), top: 0 });
    },
    /** Describes the values at a time for screen readers, the series in their order. */
    describe(time: number): string {
      const { timeScale, unfinishedFrom = Infinity, measure = "count" } = data;
      const values = readRow(data, rows, times.indexOf(time), readColour);
      const soFar = time * 1000 < unfinishedFrom ? [] : ["so far"];
      return [
        formatPoint(time * 1000, timeScale),
        ...soFar,
        ...values.map(
          ({ label, value, note }) =>
            `${label}: ${formatMeasure(value, measure)}${note === "" ? "" : ` (${note})`}`,
        ),
      ].join(", ");
    },
    remove(): void {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** Lets a finger that moves sideways point at values; one that moves up or down scrolls. */
function followFingers(chart: uPlot): void {
  chart.over.addEventListener("pointermove", ({ pointerType, clientX, clientY }) => {
    if (pointerType !== "touch") return;
    const { left, top } = chart.over.getBoundingClientRect();
    chart.setCursor({ left: clientX - left, top: clientY - top });
  });
}
