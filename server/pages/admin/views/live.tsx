/** The request rate, the durations and the errors of the running service, from its metrics. */
import { useEffect, useState } from "preact/hooks";
import { formatCompact, formatExact } from "../../format.ts";
import { Chart } from "../../charts/chart.tsx";
import { Figures } from "../../parts/figures.tsx";
import { Button } from "../../parts/form.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { reportOutage } from "../api.ts";
import { formatNumberOf } from "../parts.tsx";
import {
  addChanges,
  compareRoutes,
  estimateQuantile,
  parseMetrics,
  type MetricsReading,
  type RouteCounts,
} from "../metrics.ts";

/** How often the metrics are read, while the page is visible. */
const PERIOD_MS = 2000;

/** How many points the charts have: five minutes. */
const POINTS_MAX = 150;

const QUANTILES = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["p99", 0.99],
] as const;

/** A point of the charts: rates a second, and durations in milliseconds. */
interface Point {
  readonly at: number;
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly quantilesMs: readonly (number | null)[];
  /** The load, in percent of one processor. */
  readonly cpuPercent: number | undefined;
}

/** The readings since the page was opened. */
interface LiveState {
  /** The first reading since the service started. */
  readonly first: MetricsReading | undefined;
  readonly last: MetricsReading | undefined;
  readonly points: readonly Point[];
}

/** The state, which stays when another part is shown. */
let kept: LiveState = { first: undefined, last: undefined, points: [] };

const countRequests = ({ routes }: MetricsReading): number =>
  [...routes.values()].reduce((sum, { requests }) => sum + requests, 0);

const estimateMs = (reading: MetricsReading, change: RouteCounts, share: number) => {
  const seconds = estimateQuantile(reading.boundsS, change.buckets, share);
  return seconds === null ? null : Math.round(seconds * 1e5) / 100;
};

function createPoint(before: MetricsReading, after: MetricsReading): Point {
  const change = addChanges(compareRoutes(before, after).values());
  const seconds = (after.at - before.at) / 1000;
  const perSecond = (count: number) => Math.round((count / seconds) * 100) / 100;
  const [cpuBefore, cpuAfter] = [before.cpuSeconds, after.cpuSeconds];
  return {
    at: after.at,
    requests: perSecond(change.requests),
    refused: perSecond(change.refused),
    failed: perSecond(change.failed),
    quantilesMs: QUANTILES.map(([, share]) => estimateMs(after, change, share)),
    cpuPercent:
      cpuBefore === undefined || cpuAfter === undefined
        ? undefined
        : Math.round(((cpuAfter - cpuBefore) / seconds) * 100),
  };
}

/** Adds a reading. After a restart, the counts begin again. */
function addReading({ first, last, points }: LiveState, reading: MetricsReading): LiveState {
  // The clock may have been set back.
  if (last !== undefined && reading.at <= last.at) return { first, last: reading, points };
  if (first === undefined || last === undefined || countRequests(reading) < countRequests(last)) {
    return { first: reading, last: reading, points };
  }
  return {
    first,
    last: reading,
    points: [...points, createPoint(last, reading)].slice(-POINTS_MAX),
  };
}

/** Reads the metrics, while the page is visible and not paused. */
function useLiveState(isPaused: boolean): LiveState {
  const [state, setState] = useState(kept);
  useEffect(() => {
    if (isPaused) return undefined;
    const reader = {};
    let isReading = false;
    const read = async () => {
      // A slow read must not end after the next one.
      if (document.hidden || isReading) return;
      isReading = true;
      const at = Date.now();
      try {
        const response = await fetch("/metrics", { signal: AbortSignal.timeout(PERIOD_MS * 5) });
        if (!response.ok) throw new Error(`/metrics responds with ${response.status}`);
        kept = addReading(kept, parseMetrics(await response.text(), at));
        setState(kept);
        reportOutage(reader, null);
      } catch {
        reportOutage(reader, "The service does not answer.");
      } finally {
        isReading = false;
      }
    };
    void read();
    const timer = setInterval(() => void read(), PERIOD_MS);
    return () => {
      clearInterval(timer);
      reportOutage(reader, null);
    };
  }, [isPaused]);
  return state;
}

export function Live() {
  const [isPaused, setPaused] = useState(false);
  const { first, last, points } = useLiveState(isPaused);
  const point = points.at(-1);
  return (
    <>
      <h1>Live</h1>
      <div class="row">
        <Button label={isPaused ? "Go on" : "Pause"} onClick={() => setPaused(!isPaused)} />
        <span class="hint">
          {isPaused
            ? "Paused: zoom into a chart, or point at it."
            : "Read every two seconds. The readings themselves are not counted."}
        </span>
      </div>
      <Figures items={listFigures(point)} />
      <p class="muted">{describeProcess(point, last)}</p>
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

/** Describes the memory and the processor time of the process, as far as they are known. */
function describeProcess(point: Point | undefined, last: MetricsReading | undefined): string {
  const memory = last?.memoryBytes;
  return [
    ...(memory === undefined ? [] : [`The process uses ${formatCompact(memory)}B of memory`]),
    ...(point?.cpuPercent === undefined ? [] : [`${point.cpuPercent} % of a processor`]),
  ].join(", ");
}

function LiveCharts({ points }: { readonly points: readonly Point[] }) {
  const instants = points.map(({ at }) => at);
  const shared = { timeScale: "local", instants, getGapMs: () => 3 * PERIOD_MS } as const;
  return (
    <div class="columns">
      <Chart
        {...shared}
        title="Requests a second"
        series={[
          { label: "All", values: points.map(({ requests }) => requests) },
          ...[
            { label: "Errors (5xx)", values: points.map(({ failed }) => failed) },
            { label: "Refused (4xx)", values: points.map(({ refused }) => refused) },
            // Two lines at zero would hide each other.
          ].filter(({ values }) => values.some((value) => value > 0)),
        ]}
        fileName="requests.csv"
      />
      {points.some(({ quantilesMs }) => quantilesMs[0] !== null) && (
        <Chart
          {...shared}
          title="Durations in milliseconds"
          series={QUANTILES.map(([label], index) => ({
            label,
            values: points.map(({ quantilesMs }) => quantilesMs[index] ?? null),
          }))}
          fileName="durations.csv"
        />
      )}
    </div>
  );
}

interface RouteRow {
  readonly route: string;
  readonly change: RouteCounts;
  readonly p95Ms: number | null;
}

const COLUMNS: readonly Column<RouteRow>[] = [
  { label: "Route", getValue: ({ route }) => route },
  ...(["requests", "refused", "failed"] as const).map((field) => ({
    label: { requests: "Requests", refused: "4xx", failed: "5xx" }[field],
    as: "count" as const,
    getValue: ({ change }: RouteRow) => change[field],
  })),
  { label: "p95, ms", as: "exact", getValue: ({ p95Ms }) => p95Ms },
];

function Routes({ first, last }: Readonly<{ first: MetricsReading; last: MetricsReading }>) {
  const rows = [...compareRoutes(first, last)]
    .filter(([, { requests }]) => requests > 0)
    .map(([route, change]): RouteRow => ({ route, change, p95Ms: estimateMs(last, change, 0.95) }))
    .toSorted((a, b) => b.change.requests - a.change.requests);
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
