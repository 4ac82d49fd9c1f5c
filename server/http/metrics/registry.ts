/**
 * The Prometheus metrics of the service. Those from the database are snapshots, read in the
 * background, so a scrape never waits for it.
 */
import { Counter, Gauge, Registry, collectDefaultMetrics } from "prom-client";
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import { createRequestMetrics } from "./request-metrics.ts";

const REFRESH_INTERVAL_MS = 5000;

/** Default metrics of Node that Bun lacks or reports wrongly. */
const UNSUPPORTED_METRICS = /^(?:process_heap_bytes$|nodejs_(?:active_|gc_|heap_space_|version_))/;

/** A metric of each source. A name with `_total` makes it a counter. */
interface SourceMetric {
  readonly name: string;
  readonly help: string;
  /** The value of a source, or one for each bucket of its quota. */
  getValues(
    status: SourceStatus,
  ): number | readonly { readonly bucket: string; readonly value: number }[];
}

const SOURCE_METRICS: readonly SourceMetric[] = [
  {
    name: "collector_stopped",
    help: "1 if no requests are sent to a source until a known time or a change, else 0",
    getValues: ({ stopped }) => (stopped === undefined ? 0 : 1),
  },
  {
    name: "collector_failing",
    help: "1 if no request to a source has succeeded since a failure, else 0",
    getValues: ({ failing }) => (failing === undefined ? 0 : 1),
  },
  {
    name: "collector_requests_total",
    help: "Requests that were sent to a source",
    getValues: ({ work }) => work.requests,
  },
  {
    name: "collector_observations_total",
    help: "Observations that a source gave",
    getValues: ({ work }) => work.observations,
  },
  {
    name: "collector_observed_total",
    help: "Targets that were observed",
    getValues: ({ work }) => work.observed,
  },
  {
    name: "collector_failed_total",
    help: "Targets that could not be observed",
    getValues: ({ work }) => work.failed,
  },
  {
    name: "collector_quota_units_used",
    help: "Units of the quota day that are used",
    getValues: ({ buckets }) => buckets.map(({ bucket, used }) => ({ bucket, value: used })),
  },
  {
    name: "collector_quota_units_limit",
    help: "Units of the quota day that may be used",
    getValues: ({ buckets }) => buckets.map(({ bucket, limit }) => ({ bucket, value: limit })),
  },
];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics({
  collecting,
  notices,
  database,
  now,
}: {
  readonly collecting: { sources(): Promise<SourceStatus[]> };
  readonly notices: Pick<NoticeStore, "countUndelivered">;
  readonly database: {
    /** Why requests to the database are suspended; `undefined` if they are not. */
    getOutage(): Error | undefined;
  };
  now(): number;
}) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNSUPPORTED_METRICS.test(name)) registry.removeSingleMetric(name);
  }
  const sources = createSnapshot(collecting.sources, now);
  for (const metric of SOURCE_METRICS) registerSourceMetric(registry, metric, sources.value);
  const ageGauge: Gauge = new Gauge({
    name: "collector_state_age_seconds",
    help: "Time since the other collector metrics were read from the database",
    registers,
    collect() {
      const ageMs = sources.ageMs();
      if (ageMs === undefined) ageGauge.remove();
      else ageGauge.set(ageMs / 1000);
    },
  });
  const noticeCounts = createSnapshot(notices.countUndelivered, now);
  const noticeGauge: Gauge = new Gauge({
    name: "undelivered_notices",
    help: "Notices about low balances by state: pending ones are tried again, failed ones are not",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(noticeCounts.value() ?? {})) {
        noticeGauge.set({ state }, count);
      }
    },
  });
  const databaseAwayGauge: Gauge = new Gauge({
    name: "database_away",
    help: "1 while a libSQL server does not answer and only probes are sent to it, else 0",
    registers,
    collect: () => databaseAwayGauge.set(database.getOutage() === undefined ? 0 : 1),
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    recordRequest: createRequestMetrics(registry),
    /** Reads the status of the sources, which the metrics then show too. */
    refreshSources: sources.refresh,
    close() {
      sources.close();
      noticeCounts.close();
    },
  };
}

function registerSourceMetric(
  registry: Registry,
  { name, help, getValues }: SourceMetric,
  listSources: () => readonly SourceStatus[] | undefined,
): void {
  const Metric = name.endsWith("_total") ? Counter : Gauge;
  const metric: Counter | Gauge = new Metric({
    name,
    help,
    labelNames: ["source", "bucket"],
    registers: [registry],
    collect() {
      metric.reset();
      for (const status of listSources() ?? []) {
        const { source } = status;
        const values = getValues(status);
        if (typeof values === "number") metric.inc({ source }, values);
        else for (const { bucket, value } of values) metric.inc({ source, bucket }, value);
      }
    },
  });
}

function createSnapshot<Value>(read: () => Promise<Value>, now: () => number) {
  let latest: { readonly value: Value; readonly at: number } | undefined;
  let isRefreshing = false;
  const refresh = async () => {
    const at = now();
    const value = await read();
    latest = { value, at };
    return value;
  };
  const refreshInBackground = async () => {
    if (isRefreshing) return;
    isRefreshing = true;
    // If the database is away, the last value stays, and `ageMs()` shows how old it is.
    await refresh().catch(() => undefined);
    isRefreshing = false;
  };
  void refreshInBackground();
  const timer = setInterval(() => void refreshInBackground(), REFRESH_INTERVAL_MS);
  timer.unref();
  return {
    /** The last value; `undefined` until a read succeeds. */
    value: () => latest?.value,
    /** The time since the last successful read began; `undefined` before the first. */
    ageMs: () => (latest === undefined ? undefined : Math.max(0, now() - latest.at)),
    /** Reads the value now. It rejects if the database is away; the last value then stays. */
    refresh,
    close: () => clearInterval(timer),
  };
}
