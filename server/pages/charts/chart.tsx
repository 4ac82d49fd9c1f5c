/** A chart of values over time: keys and buttons to read values and zoom, a table, and CSV. */
import { useEffect, useRef, useState } from "preact/hooks";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import {
  formatLocal,
  formatMeasure,
  formatPoint,
  formatTick,
  formatUtc,
  type TimeScale,
} from "../format.ts";
import { saveCsv } from "../save-file.ts";
import { useEventValue } from "../state-hooks.ts";
import { Button } from "../parts/form.tsx";
import { Empty } from "../parts/states.tsx";
import { drawPlot, type PlotView } from "./plot.ts";
import type { PlotData } from "./plot-options.ts";

const darkScheme = matchMedia("(prefers-color-scheme: dark)");

type ChartProperties = Omit<PlotData, "isDark"> &
  Readonly<{ title: string; fileName: string; onView?: (view: PlotView) => void }>;

export function Chart(properties: ChartProperties) {
  const { title, instants, unfinishedFrom, series, kind, measure, timeScale, onView } = properties;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<ReturnType<typeof drawPlot>>(null);
  const [isTableOpen, setTableOpen] = useState(false);
  const [view, setView] = useState<PlotView>();
  const [message, setMessage] = useState("");
  const isDark = useEventValue(darkScheme, "change", () => darkScheme.matches);
  // Each rendering of the page makes new arrays: a chart with equal arrays stays, with its zoom.
  const drawing = JSON.stringify([instants, unfinishedFrom, series, kind, measure, isDark]);
  const [drawn, setDrawn] = useState<string>();
  useEffect(() => {
    // Each chart is drawn in a task of its own, so that the page responds between them.
    const task = setTimeout(() => {
      if (host.current === null) return;
      // The old chart stays until the new chart is drawn, so that a chart that is drawn often does
      // not flicker.
      const before = plot.current;
      plot.current = drawPlot(host.current, { ...properties, isDark }, (shown) => {
        setView(shown);
        onView?.(shown);
      });
      before?.remove();
      setDrawn(drawing);
    });
    return () => clearTimeout(task);
  }, [drawing]);
  useEffect(() => () => plot.current?.remove(), []);
  if (series.every(({ values }) => values.every((value) => value === null))) {
    return <Empty>{title}: no value is known in this range.</Empty>;
  }
  const show = (factor: number, shift = 0) => {
    plot.current?.show(factor, shift);
    setMessage("");
  };
  const step = (steps: number) => setMessage(plot.current?.step(steps) ?? "");
  const period = view === undefined ? "" : formatPeriod(view, timeScale);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="hint">{period}</span>
      </figcaption>
      <div
        ref={host}
        class="plot"
        role="group"
        tabIndex={0}
        aria-busy={drawn !== drawing}
        aria-label={`Chart of ${title}. The arrow keys read its values; plus and minus zoom.`}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.altKey || event.metaKey) return;
          const [steps, zoom] = [KEY_STEPS[event.key], KEY_ZOOMS[event.key]];
          if (zoom !== undefined) show(...zoom);
          else if (steps !== undefined) step(steps);
          else return;
          event.preventDefault();
        }}
      />
      <p class="hidden" role="status">
        {/* The shown part is read out once the visitor has changed it. */}
        {message === "" && view?.isWhole === false ? `Shows ${period}` : message}
      </p>
      <div class="row controls">
        <div class="segments" role="group" aria-label={`Zoom of ${title}`}>
          {ZOOM_BUTTONS.map(({ sign, label, hint, factor, shift }) => (
            <button
              key={label}
              type="button"
              aria-label={label}
              title={`${label}${hint}`}
              aria-disabled={factor >= 1 && view?.isWhole !== false}
              onClick={() => show(factor, shift)}
            >
              {sign}
            </button>
          ))}
        </div>
        <Button label="CSV" about={`CSV of ${title}`} onClick={() => download(properties)} />
        <details onToggle={({ currentTarget }) => setTableOpen(currentTarget.open)}>
          <summary>
            Table <span class="hidden">of {title}</span>
          </summary>
          {isTableOpen && <ChartTable {...properties} />}
        </details>
      </div>
    </figure>
  );
}

const KEY_STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
};

const KEY_ZOOMS: Readonly<Record<string, readonly [factor: number, shift?: number]>> = {
  PageUp: [1, -0.5],
  PageDown: [1, 0.5],
  "+": [0.5],
  "=": [0.5],
  "-": [2],
  0: [Infinity],
};

/** Buttons that zoom or move. While all is shown, only the button that zooms in has an effect. */
const ZOOM_BUTTONS = [
  { sign: "+", label: "Zoom in", hint: ", or drag over the chart", factor: 0.5 },
  { sign: "−", label: "Zoom out", hint: "", factor: 2 },
  { sign: "‹", label: "Earlier", hint: "", factor: 1, shift: -0.5 },
  { sign: "›", label: "Later", hint: "", factor: 1, shift: 0.5 },
  { sign: "All", label: "Fit all", hint: ", or double-click the chart", factor: Infinity },
];

/** Formats a period; in local time, with times of day if it is short, and seconds below an hour. */
export function formatPeriod({ from, to }: Pick<PlotView, "from" | "to">, timeScale: TimeScale) {
  if (timeScale === "utc") return `${formatPoint(from, "utc")} – ${formatPoint(to, "utc")}`;
  if (to - from < HOUR_MS) {
    return `${formatLocal(from, false)}, ${formatTick(from / 1000, 1, timeScale)} – ${formatTick(to / 1000, 1, timeScale)}`;
  }
  const hasTime = to - from < 3 * DAY_MS;
  return `${formatLocal(from, hasTime)} – ${formatLocal(to, hasTime)}`;
}

const ChartTable = ({ title, instants, series, measure = "count", timeScale }: ChartProperties) => (
  <div class="scroll tall" role="region" aria-label={title} tabIndex={0}>
    <table>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {series.map(({ label }) => (
            <th key={label} scope="col" class="numeric">
              <bdi class="text">{label}</bdi>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {instants.map((at, index) => (
          <tr key={at}>
            <th scope="row">
              <ScaledTime at={at} timeScale={timeScale} />
            </th>
            {series.map(({ label, values }) => (
              <td key={label} class="numeric">
                <data value={values[index] ?? ""}>{formatMeasure(values[index], measure)}</data>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** An instant in local time, or the date of a day or of the first day of a week or month. */
export function ScaledTime({ at, timeScale }: Readonly<{ at: number; timeScale: TimeScale }>) {
  const instant = new Date(at).toISOString();
  const isDate = timeScale === "utc";
  return (
    <time
      dateTime={isDate ? instant.slice(0, 10) : instant}
      title={isDate ? undefined : formatUtc(at)}
    >
      {formatPoint(at, timeScale)}
    </time>
  );
}

function download({ instants, series, fileName }: ChartProperties): void {
  const header = ["timestamp", ...series.map(({ label }) => label)];
  const rows = instants.map((at, index) => [
    new Date(at).toISOString(),
    ...series.map(({ values }) => values[index] ?? null),
  ]);
  saveCsv(fileName, header, rows);
}
