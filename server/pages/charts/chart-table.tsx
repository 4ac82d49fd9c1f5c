/** The values of charts as a table and as CSV, and the times of charts as texts. */
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import {
  createFileName,
  formatAge,
  formatLocal,
  formatMeasure,
  formatPoint,
  formatTick,
  formatUtc,
  type TimeScale,
} from "../format.ts";
import { saveCsv } from "../save-file.ts";
import type { ChartData, TimeAxis } from "./plot-data.ts";
import type { View } from "./view.ts";

/** Formats a period; in local time, with times of day if it is short, and seconds below an hour. */
export function formatPeriod({ from, to }: View, timeScale: TimeScale): string {
  if (timeScale !== "local") {
    const period = `${formatPoint(from, timeScale)} – ${formatPoint(to, timeScale)}`;
    return timeScale === "age" ? `${period} after publication` : period;
  }
  if (to - from < HOUR_MS) {
    return `${formatLocal(from, false)}, ${formatTick(from / 1000, 1, timeScale)} – ${formatTick(to / 1000, 1, timeScale)}`;
  }
  const hasTime = to - from < 3 * DAY_MS;
  return `${formatLocal(from, hasTime)} – ${formatLocal(to, hasTime)}`;
}

/** An instant in local time, the date of a day or of the first day of a week or month, or an age. */
export function ScaledTime({ at, timeScale }: Readonly<{ at: number; timeScale: TimeScale }>) {
  if (timeScale === "age") {
    return <time dateTime={`PT${Math.round(at / 1000)}S`}>{formatAge(at)}</time>;
  }
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

type Charts = Readonly<{ axis: TimeAxis; charts: readonly ChartData[] }>;

const listColumns = (charts: readonly ChartData[]) =>
  charts.flatMap(({ series, measure = "count" }) => series.map((one) => ({ ...one, measure })));

export function ChartTable({ axis: { instants, timeScale }, charts }: Charts) {
  const columns = listColumns(charts);
  const caption = charts.map(({ title }) => title).join("; ");
  return (
    <div class="scroll tall" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>
          <span>{caption}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">{timeScale === "age" ? "Since publication" : "Time"}</th>
            {columns.map(({ label }) => (
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
              {columns.map(({ label, values, measure }) => (
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
}

/** Saves the values: by the instant of each row in UTC, or by its hours since publication. */
export function saveCharts({ axis: { instants, timeScale }, charts }: Charts, name: string): void {
  const columns = listColumns(charts);
  const isAge = timeScale === "age";
  const rows = instants.map((at, index) => [
    isAge ? Math.round((at / HOUR_MS) * 1e4) / 1e4 : new Date(at).toISOString(),
    ...columns.map(({ values }) => values[index] ?? null),
  ]);
  const header = [isAge ? "hours" : "timestamp", ...columns.map(({ label }) => label)];
  saveCsv(`${createFileName(name)}.csv`, header, rows);
}
