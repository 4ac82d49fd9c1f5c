/** The values at the pointer of a chart, beside it: of each series, with its change. */
import { Fragment, render } from "preact";
import type uPlot from "uplot";
import { formatMeasure, formatPercent, formatPoint, type Measure } from "../format.ts";
import { getColour, describeTime } from "./plot-options.ts";
import type { ReadColour } from "./canvas.ts";
import { findKnownRow, type PlotData, type PlotRows } from "./plot-data.ts";

/** The distance from the pointer, in pixels. */
const DISTANCE = 14;

export interface PointedValue {
  readonly label: string;
  readonly colour: string;
  readonly value: number | null;
  /**
   * The change since the last known value before, or the age of a value that is not of this row.
   * Empty for bars, which are changes themselves.
   */
  readonly note: string;
}

/** Reads the values of a row of a chart, in the order of the series. */
export function readRow(
  data: PlotData,
  rows: PlotRows,
  row: number,
  readColour: ReadColour,
): PointedValue[] {
  return data.series.map(({ label }, nth) => ({
    label,
    colour: getColour(data, nth, readColour),
    value: rows.known[nth]?.[findKnownRow(rows, nth, row)] ?? null,
    note: createNote(data, rows, nth, row),
  }));
}

function createNote(data: PlotData, rows: PlotRows, nth: number, row: number): string {
  const { kind, measure = "count", timeScale } = data;
  const column = rows.known[nth] ?? [];
  const knownRow = findKnownRow(rows, nth, row);
  if (knownRow !== row) return `at ${formatPoint((rows.times[knownRow] ?? 0) * 1000, timeScale)}`;
  const value = column[row] ?? null;
  const before = column.slice(0, row).findLast((earlier) => earlier !== null) ?? null;
  if (kind === "bars" || value === null || before === null) return "";
  return formatDifference(value - before, measure);
}

/** Sorts values like the lines of a chart, the greatest first; unknown ones come last. */
function sortLikeLines(values: readonly PointedValue[]): PointedValue[] {
  const rank = ({ value }: PointedValue) => value ?? -Infinity;
  return values.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
}

/** A difference of two percentages is in percentage points. */
const formatDifference = (difference: number, measure: Measure): string =>
  measure === "percent"
    ? formatPercent(difference).replace("%", "pp")
    : formatMeasure(difference, "change");

const Tooltip = ({
  time,
  values,
  measure,
}: Readonly<{ time: string; values: readonly PointedValue[]; measure: Measure }>) => (
  <>
    <p>{time}</p>
    <div class={values.length > 1 ? "values named" : "values"}>
      {values.map(({ label, colour, value, note }) => (
        <Fragment key={label}>
          {values.length > 1 && (
            <span>
              <i style={{ background: colour }} /> <bdi class="text">{label}</bdi>
            </span>
          )}
          <b>{formatMeasure(value, measure)}</b>
          <span class="muted">{note}</span>
        </Fragment>
      ))}
    </div>
  </>
);

/** Creates the hooks that show the tooltip. Screen readers hear the values from a status. */
export function createTooltip(
  data: PlotData,
  rows: PlotRows,
  readColour: ReadColour,
): uPlot.Hooks.Arrays {
  const tooltip = document.createElement("div");
  tooltip.className = "tooltip";
  tooltip.ariaHidden = "true";
  tooltip.hidden = true;
  const place = ({ cursor, over, root }: uPlot) => {
    const { left = 0, top = 0 } = cursor;
    const { offsetWidth, offsetHeight } = tooltip;
    // Inside of the chart, which is inside of the window.
    const [min, max] = [-over.offsetLeft, root.clientWidth - over.offsetLeft - offsetWidth];
    const isLeft = left + DISTANCE > max;
    const x = isLeft ? left - DISTANCE - offsetWidth : left + DISTANCE;
    const isAbove = top > over.clientHeight / 2;
    const y = isAbove ? top - DISTANCE - offsetHeight : top + DISTANCE;
    tooltip.style.translate = `${Math.max(min, Math.min(max, x))}px ${Math.max(0, y)}px`;
  };
  return {
    init: [({ over }) => void over.append(tooltip)],
    setCursor: [
      (chart) => {
        const { idx, left = -1 } = chart.cursor;
        tooltip.hidden = typeof idx !== "number" || left < 0;
        if (tooltip.hidden || typeof idx !== "number") return;
        render(
          <Tooltip
            time={describeTime(data, rows.times[idx])}
            values={sortLikeLines(
              readRow(data, rows, idx, readColour).filter(
                (_, nth) => chart.series[nth + 1]?.show !== false,
              ),
            )}
            measure={data.measure ?? "count"}
          />,
          tooltip,
        );
        place(chart);
      },
    ],
    destroy: [() => render(null, tooltip)],
  };
}
