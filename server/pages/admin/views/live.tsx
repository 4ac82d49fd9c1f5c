/** Reads metrics of the service every two seconds; shows rates, errors, durations, load, routes. */
import { useEffect, useState } from "preact/hooks";
import { Charts } from "../../charts/charts.tsx";
import { formatCompact, formatExact, formatNumberOf } from "../../format.ts";
import { Figures } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { readMetrics } from "../api.ts";
import { estimateQuantile, parseMetrics, subtractCounts } from "../metrics.ts";
import { useOutage } from "../reading.tsx";

const PERIOD_MS = 2000;

/** How many points the charts have: five minutes. */
const POINTS_MAX = 150;

const QUANTILES = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["p99", 0.99],
] as const;

type MetricsReading = ReturnType<typeof parseMetrics>;

type RouteCounts = MetricsReading["total"];

/** A point of the charts: counts a second, and durations in milliseconds. */
type Point = ReturnType<typeof createPoint>;

/** The first reading since the page was opened or the service restarted, the last one, points. */
interface LiveState {
  readonly first?: MetricsReading;
  readonly last?: MetricsReading;
  readonly points: readonly Point[];
}

/** The state outside of the component, so that it stays while another part is shown. */
let kept: LiveState = { points: [] };

function estimateMs(reading: MetricsReading, change: RouteCounts, share: number): number | null {
  const seconds = estimateQuantile(reading.boundsS, change.buckets, share);
  return seconds === null ? null : Math.round(seconds * 1e5) / 100;
}

function createPoint(before: MetricsReading, after: MetricsReading) {
  const change = subtractCounts(after.total, before.total);
  const seconds = (after.at - before.at) / 1000;
  const perSecond = (count: number) => Math.round((count / seconds) * 100) / 100;
  const cpuSeconds = (after.cpuSeconds ?? NaN) - (before.cpuSeconds ?? NaN);
  return {
    at: after.at,
    requests: perSecond(change.requests),
    refused: perSecond(change.refused),
    failed: perSecond(change.failed),
    quantilesMs: QUANTILES.map(([, share]) => estimateMs(after, change, share)),
    /** The load, in percent of one processor; NaN if it is not known. */
    cpuPercent: Math.round((cpuSeconds / seconds) * 100),
  };
}

/** Adds a reading. After a restart of the service, the counts begin at 0 again. */
function addReading({ first, last, points }: LiveState, reading: MetricsReading): LiveState {
  if (first === undefined || last === undefined) return { first: reading, last: reading, points };
  // The clock may have been set back.
  if (reading.at <= last.at) return { first, last: reading, points };
  if (reading.total.requests < last.total.requests) {
    return { first: reading, last: reading, points };
  }
  const point = createPoint(last, reading);
  return { first, last: reading, points: [...points, point].slice(-POINTS_MAX) };
}

function useLiveState(isPaused: boolean): LiveState {
  const [state, setState] = useState(kept);
  const [isGone, setGone] = useState(false);
  useOutage(isGone && !isPaused ? "The service does not answer." : undefined);
  useEffect(() => {
    if (isPaused) return undefined;
    let isReading = false;
    const read = async () => {
      // A slow read must not end after the next one.
      if (document.hidden || isReading) return;
      isReading = true;
      const at = Date.now();
      try {
        kept = addReading(kept, parseMetrics(await readMetrics(PERIOD_MS * 5), at));
        setState(kept);
        setGone(false);
      } catch {
        setGone(true);
      } finally {
        isReading = false;
      }
    };
    void read();
    const timer = setInterval(() => void read(), PERIOD_MS);
    return () => clearInterval(timer);
  }, [isPaused]);
  return state;
}

export function Live() {
  const [isPaused, setPaused] = useState(false);
  const { first, last, points } = useLiveState(isPaused);
  const point = points.at(-1);
  return (
    <>
      <PageHead
        title="Live"
        below={
          <p class="muted">
            {isPaused
              ? "Paused: zoom into a chart, or point at it."
              : "Read every two seconds. The readings themselves are not counted."}
          </p>
        }
      >
        <Button label={isPaused ? "Go on" : "Pause"} onClick={() => setPaused(!isPaused)} />
      </PageHead>
      <Figures items={listFigures(point)} />
      <p class="muted">{describeProcess(last, point)}</p>
      {points.length > 1 ? (
        <LiveCharts points={points} />
      ) : (
        <Empty>The charts begin in a few seconds: each point compares two readings.</Empty>
      )}
      {first !== undefined && last !== undefined && first !== last && (
        <Routes first={first} last={last} />
      )}
    </>
  );
}

function listFigures(point: Point | undefined) {
  const format = (value: number | undefined) => (value === undefined ? "…" : formatExact(value));
  return [
    ["Requests a second", format(point?.requests)],
    ["Refused a second (4xx)", format(point?.refused)],
    [
      "Errors a second (5xx)",
      <span class={(point?.failed ?? 0) > 0 ? "loss" : ""}>{format(point?.failed)}</span>,
    ],
    ...QUANTILES.map(([name], index) => {
      const value = point?.quantilesMs[index];
      return [name, value == null ? "–" : `${formatExact(value)} ms`] as const;
    }),
  ] as const;
}

function describeProcess(last?: MetricsReading, point?: Point): string {
  const { memoryBytes = NaN } = last ?? {};
  const { cpuPercent = NaN } = point ?? {};
  const memory = `The process uses ${formatCompact(memoryBytes)}B of memory`;
  const parts = [
    !isNaN(memoryBytes) && memory,
    !isNaN(cpuPercent) && `${cpuPercent} % of a processor`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

function LiveCharts({ points }: { readonly points: readonly Point[] }) {
  const errors = [
    { label: "Errors (5xx)", values: points.map(({ failed }) => failed) },
    { label: "Refused (4xx)", values: points.map(({ refused }) => refused) },
  ];
  const requests = {
    title: "Requests a second",
    series: [
      { label: "All", values: points.map(({ requests: all }) => all) },
      // Two lines at zero would hide each other.
      ...errors.filter(({ values }) => values.some((value) => value > 0)),
    ],
  };
  const durations = {
    title: "Durations in milliseconds",
    series: QUANTILES.map(([label], index) => ({
      label,
      values: points.map(({ quantilesMs }) => quantilesMs[index] ?? null),
    })),
  };
  const hasDurations = points.some(({ quantilesMs }) => quantilesMs[0] !== null);
  return (
    <Charts
      timeScale="local"
      instants={points.map(({ at }) => at)}
      getGapMs={() => 3 * PERIOD_MS}
      charts={hasDurations ? [requests, durations] : [requests]}
      fileName="live"
      isBeside
    />
  );
}

type RouteRow = RouteCounts & Readonly<{ route: string; p95Ms: number | null }>;

const COLUMNS: readonly Column<RouteRow>[] = [
  { label: "Route", field: "route" },
  { label: "Requests", as: "count", field: "requests" },
  { label: "4xx", as: "count", field: "refused" },
  { label: "5xx", as: "count", field: "failed" },
  { label: "p95, ms", as: "exact", field: "p95Ms" },
];

function Routes({ first, last }: Readonly<{ first: MetricsReading; last: MetricsReading }>) {
  const rows = Array.from(last.routes, ([route, sum]) => {
    const counts = subtractCounts(sum, first.routes.get(route));
    return { ...counts, route, p95Ms: estimateMs(last, counts, 0.95) };
  })
    .filter(({ requests }) => requests > 0)
    .toSorted((a, b) => b.requests - a.requests);
  return (
    <>
      <h2>Routes since this page was opened</h2>
      <Table
        caption={formatNumberOf(rows.length, "route")}
        columns={COLUMNS}
        items={rows}
        getKey={({ route }) => route}
        empty="No request since then."
      />
    </>
  );
}
