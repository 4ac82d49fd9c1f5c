/** A chart of counts over time, its table, and its CSV. */
import { useEffect, useRef, useState } from "preact/hooks";
import { toCsv } from "../format.ts";
import { Change, Count, Instant } from "./figures.tsx";
import { drawPlot, type PlotData } from "./plot.ts";
import { Empty } from "./states.tsx";

interface ChartProperties extends PlotData {
  readonly title: string;
  readonly fileName: string;
}

export function Chart(properties: ChartProperties) {
  const { title, instants, series, kind } = properties;
  const host = useRef<HTMLDivElement>(null);
  const [isTableOpen, setTableOpen] = useState(false);
  const isDark = useColourScheme();
  // The arrays are made anew whenever the page is rendered; a chart that stays keeps its zoom.
  const data = JSON.stringify([instants, series]);
  useEffect(() => {
    if (host.current === null) return undefined;
    return drawPlot(host.current, properties);
  }, [data, kind, isDark]);
  if (series.every(({ values }) => values.every((value) => value === null))) {
    return <Empty>{title}: no value is known in this range.</Empty>;
  }
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={host} class="plot" aria-hidden="true" />
      <div class="row">
        <button type="button" aria-label={`CSV of ${title}`} onClick={() => download(properties)}>
          CSV
        </button>
        <details onToggle={({ currentTarget }) => setTableOpen(currentTarget.open)}>
          <summary>Table of {title}</summary>
          {isTableOpen && <ChartTable {...properties} />}
        </details>
        <span class="hint">Drag over the chart to zoom in; double-click to zoom out.</span>
      </div>
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
                <bdi class="text">{label}</bdi>
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
