/** Charts of values over one time, with one toolbar: keys read values and zoom, a table, files. */
import "./charts.css";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { createFileName } from "../format.ts";
import { Empty, Failed } from "../parts/states.tsx";
import { setParameters, useAddress } from "../router.ts";
import { saveFile } from "../save-file.ts";
import { useEventValue, useProgress } from "../state-hooks.ts";
import { ChartTable, formatPeriod, saveCharts } from "./chart-table.tsx";
import { createPicture } from "./picture.ts";
import {
  canBeLog,
  describeScale,
  isKnown,
  type ChartData,
  type PlotData,
  type TimeAxis,
} from "./plot-data.ts";
import { drawPlot, type Plot } from "./plot.ts";
import { Toolbar, type Zoom } from "./toolbar.tsx";
import { loadUplot } from "./uplot.ts";
import { changeView, clampView, formatView, parseView, type View } from "./view.ts";

const darkScheme = matchMedia("(prefers-color-scheme: dark)");

interface ChartsProperties extends TimeAxis {
  readonly charts: readonly ChartData[];
  /** The name of saved files, without an extension. */
  readonly fileName: string;
  /** Whether the address keeps the shown part and the scale. */
  readonly isShareable?: boolean;
  /** Whether the charts are beside each other where there is room. */
  readonly isBeside?: boolean;
  /** Called with the shown part whenever it changes; `undefined` is all. */
  readonly onView?: (view: View | undefined) => void;
}

export function Charts(properties: ChartsProperties) {
  const { charts, fileName, isShareable = false, isBeside = false, onView, ...axis } = properties;
  const { instants, timeScale } = axis;
  const { query } = useAddress();
  const group = useId();
  const isDark = useEventValue(darkScheme, "change", () => darkScheme.matches);
  const whole = { from: instants[0] ?? 0, to: instants.at(-1) ?? 0 };
  const { view, setView } = useView(isShareable, axis, whole);
  const [isTableOpen, setTableOpen] = useState(false);
  const [message, setMessage] = useState("");
  const { progress: saving, follow } = useProgress();
  const frame = useRef<HTMLDivElement>(null);
  /** The drawn charts, by their positions. */
  const plots = useRef(new Map<number, Plot>()).current;
  useEffect(() => onView?.(view), [view?.from, view?.to]);
  const isLog = isShareable && query.get("scale") === "log";
  const known = charts.filter(isKnown);
  const [first] = known;
  const createData = (chart: ChartData): PlotData => ({
    ...axis,
    ...chart,
    isDark,
    isLog: isLog && canBeLog(chart),
    group,
  });
  const period = formatPeriod(view ?? whole, timeScale);
  const zoom = (change: Zoom) => {
    setView(changeView(whole, view, { ...change, count: instants.length }));
    setMessage("");
  };
  const savePicture = async () => {
    const host = frame.current?.querySelector<HTMLElement>(".plot");
    if (host == null) return;
    const heading = document.title.replace(/ · Creator metrics$/, "");
    await loadUplot();
    // A chart that is not drawn yet hides no series.
    const drawn = charts.flatMap((chart, nth) =>
      isKnown(chart) ? (plots.get(nth) ?? { data: createData(chart), isShown: () => true }) : [],
    );
    const picture = await createPicture(drawn, { host, view, heading, period });
    saveFile(`${createFileName(fileName)}.png`, picture);
  };
  const renderChart = (chart: ChartData, nth: number) =>
    isKnown(chart) ? (
      <PlotFigure
        key={nth}
        nth={nth}
        data={createData(chart)}
        plots={plots}
        {...{ view, setView, zoom, setMessage }}
      />
    ) : (
      <Empty key={nth}>{chart.title}: no value is known in this range.</Empty>
    );
  return (
    <div ref={frame} class="charts">
      {first !== undefined && (
        <>
          <Toolbar
            title={first.title}
            period={period}
            isWhole={view === undefined}
            isLog={isShareable && charts.some(canBeLog) ? isLog : undefined}
            isTableOpen={isTableOpen}
            onZoom={zoom}
            onToggleLog={() => setParameters({ scale: isLog ? "" : "log" })}
            onToggleTable={() => setTableOpen(!isTableOpen)}
            onSaveCsv={() => saveCharts({ axis, charts: known }, fileName)}
            onSavePicture={() => follow(savePicture())}
          />
          <Failed error={saving.error} />
          <p class="hidden" role="status">
            {/* The shown part is read out once the visitor has changed it. */}
            {message === "" && view !== undefined ? `Shows ${period}` : message}
          </p>
        </>
      )}
      <div class={isBeside ? "columns" : undefined}>{charts.map(renderChart)}</div>
      {isTableOpen && <ChartTable axis={axis} charts={known} />}
    </div>
  );
}

function PlotFigure(properties: {
  readonly nth: number;
  readonly data: PlotData;
  readonly plots: Map<number, Plot>;
  readonly view: View | undefined;
  readonly setView: (view: View | undefined) => void;
  readonly zoom: (zoom: Zoom) => void;
  readonly setMessage: (message: string) => void;
}) {
  const { nth, data, plots, view, setView, zoom, setMessage } = properties;
  const { title, instants, unfinishedFrom, series, kind, measure, isDark, isLog } = data;
  const host = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<string>();
  /** The newest view, for a chart that is drawn later than it was rendered. */
  const newest = useRef({ view, setView });
  newest.current = { view, setView };
  // Each rendering of the page makes new arrays: a chart with equal arrays stays.
  const drawing = JSON.stringify([instants, unfinishedFrom, series, kind, measure, isDark, isLog]);
  useEffect(() => {
    let isCurrent = true;
    // Each chart is drawn in a task of its own, so that the page responds between them.
    const draw = () => {
      if (host.current === null || !isCurrent) return;
      // The old chart stays until the new chart is drawn, so that a chart that is drawn often does
      // not flicker.
      const before = plots.get(nth);
      const onZoom = (shown: View | undefined) => newest.current.setView(shown);
      plots.set(nth, drawPlot(host.current, data, newest.current.view, onZoom));
      before?.remove();
      setDrawn(drawing);
    };
    loadUplot().then(
      () => setTimeout(draw),
      () => setMessage("The chart cannot be loaded: its values are in the table"),
    );
    return () => void (isCurrent = false);
  }, [drawing]);
  useEffect(() => plots.get(nth)?.show(view), [view?.from, view?.to]);
  useEffect(
    () => () => {
      plots.get(nth)?.remove();
      plots.delete(nth);
    },
    [],
  );
  const pointAt = (time: number | undefined) => {
    for (const plot of plots.values()) plot.point(time);
  };
  const step = (steps: number) => {
    const plot = plots.get(nth);
    const time = plot?.findTime(steps);
    if (time !== undefined) pointAt(time);
    setMessage(time === undefined ? "Nothing is known here" : (plot?.describe(time) ?? ""));
  };
  return (
    <figure class="chart">
      <figcaption>
        {title} {isLog && <span class="hint">{describeScale(data)}</span>}
      </figcaption>
      <div
        ref={host}
        class="plot"
        role="group"
        tabIndex={0}
        aria-busy={drawn !== drawing}
        aria-label={`Chart of ${title}. The arrow keys read its values; plus and minus zoom.`}
        onBlur={() => pointAt(undefined)}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.altKey || event.metaKey) return;
          const [steps, change] = [KEY_STEPS[event.key], KEY_ZOOMS[event.key]];
          if (change !== undefined) zoom(change);
          else if (steps !== undefined) step(steps);
          else if (event.key === "Escape") pointAt(undefined);
          else return;
          event.preventDefault();
        }}
      />
    </figure>
  );
}

const KEY_STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
};

const KEY_ZOOMS: Readonly<Record<string, Zoom>> = {
  PageUp: { factor: 1, shift: -0.5 },
  PageDown: { factor: 1, shift: 0.5 },
  "+": { factor: 0.5 },
  "=": { factor: 0.5 },
  "-": { factor: 2 },
  0: { factor: Infinity },
};

/** A browser allows about seven changes of the address a second; a key that is held repeats faster. */
const WRITE_DELAY_MS = 250;

/**
 * Keeps a view, in the address if `isShareable`. Going back undoes a zoom, not each of its steps.
 *
 * @param whole The time that is known.
 * @returns The view, `undefined` for all, and a function that changes it.
 */
function useView(isShareable: boolean, { timeScale, instants }: TimeAxis, whole: View) {
  const { query } = useAddress();
  const readText = (address: URLSearchParams) => (isShareable ? (address.get("view") ?? "") : "");
  const text = readText(query);
  /** A view that the address does not have yet. It holds while the address stays as it was then. */
  const [chosen, setChosen] = useState<{ view: View | undefined; since: string }>();
  const writing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(writing.current), []);
  useEffect(() => {
    // The visitor may have chosen another view since this was rendered.
    setChosen((newest) => (newest?.since === text ? newest : undefined));
  }, [text]);
  // A timer may change the address before the page is rendered again: this reads the newest one.
  const readNewestText = () => readText(new URLSearchParams(location.search));
  const setView = (wanted: View | undefined) => {
    // A selection may be a few pixels wide.
    const next = wanted && changeView(whole, wanted, { factor: 1, count: instants.length });
    const since = readNewestText();
    setChosen({ view: next, since });
    clearTimeout(writing.current);
    if (!isShareable) return;
    writing.current = setTimeout(() => {
      if (readNewestText() !== since) return;
      const shown = next === undefined ? "" : formatView(next, timeScale);
      setParameters({ view: shown }, { isReplaced: (shown === "") === (since === "") });
    }, WRITE_DELAY_MS);
  };
  const view =
    chosen?.since === text
      ? chosen.view && clampView(chosen.view, whole)
      : parseView(text, timeScale, whole);
  return { view, setView };
}
