/** Metrics of the sources of observations, from a snapshot of their status. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { SourceStatus } from "../../ports/collection.ts";

const REFRESH_INTERVAL_MS = 5000;

/** The status of the sources when it was last read. */
export interface SourceSnapshot {
  /** Empty until a read succeeds. */
  statuses(): readonly SourceStatus[];
  /** The time since the last successful read began; `undefined` before the first. */
  ageMs(): number | undefined;
  /** Reads the status now. It rejects if the database is away; the last status then stays. */
  refresh(): Promise<readonly SourceStatus[]>;
  /** Stops reading. */
  close(): void;
}

/** Reads the status of the sources at once, then at an interval. */
export function createSourceSnapshot(
  readSources: () => Promise<SourceStatus[]>,
  now: () => number,
): SourceSnapshot {
  let latest: { readonly statuses: readonly SourceStatus[]; readonly at: number } | undefined;
  let isRefreshing = false;
  const refresh = async () => {
    const at = now();
    const statuses = await readSources();
    latest = { statuses, at };
    return statuses;
  };
  const refreshInBackground = async () => {
    if (isRefreshing) return;
    isRefreshing = true;
    // If the database is away, the last status stays, and `ageMs()` shows how old it is.
    await refresh().catch(() => undefined);
    isRefreshing = false;
  };
  void refreshInBackground();
  const timer = setInterval(() => void refreshInBackground(), REFRESH_INTERVAL_MS);
  timer.unref();
  return {
    statuses: () => latest?.statuses ?? [],
    ageMs: () => (latest === undefined ? undefined : Math.max(0, now() - latest.at)),
    refresh,
    close: () => clearInterval(timer),
  };
}

/** A metric whose values are read from `Item`. A name with `_total` makes it a counter. */
interface SourceMetric<Item> {
  readonly name: string;
  readonly help: string;
  getValue(item: Item): number;
}

const STATUS_METRICS: readonly SourceMetric<SourceStatus>[] = [
  {
    name: "collector_stopped",
    help: "1 if no requests are sent to a source until a known time or a change, else 0",
    getValue: ({ stopped }) => (stopped === undefined ? 0 : 1),
  },
  {
    name: "collector_failing",
    help: "1 if no request to a source has succeeded since a failure, else 0",
    getValue: ({ failing }) => (failing === undefined ? 0 : 1),
  },
  {
    name: "collector_requests_total",
    help: "Requests that were sent to a source",
    getValue: ({ work }) => work.requests,
  },
  {
    name: "collector_observations_total",
    help: "Observations that a source gave",
    getValue: ({ work }) => work.observations,
  },
  {
    name: "collector_observed_total",
    help: "Targets that were observed",
    getValue: ({ work }) => work.observed,
  },
  {
    name: "collector_failed_total",
    help: "Targets that could not be observed",
    getValue: ({ work }) => work.failed,
  },
];

const QUOTA_METRICS: readonly SourceMetric<SourceStatus["buckets"][number]>[] = [
  {
    name: "collector_quota_units_used",
    help: "Units of the quota day that are used",
    getValue: ({ used }) => used,
  },
  {
    name: "collector_quota_units_limit",
    help: "Units of the quota day that may be used",
    getValue: ({ limit }) => limit,
  },
];

/** Registers the metrics of the sources. */
export function registerSourceMetrics(registry: Registry, snapshot: SourceSnapshot): void {
  const registers = [registry];
  for (const { name, help, getValue } of STATUS_METRICS) {
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      name,
      help,
      labelNames: ["source"],
      registers,
      collect() {
        metric.reset();
        for (const status of snapshot.statuses())
          metric.inc({ source: status.source }, getValue(status));
      },
    });
  }
  for (const { name, help, getValue } of QUOTA_METRICS) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: ["source", "bucket"],
      registers,
      collect() {
        gauge.reset();
        for (const { source, buckets } of snapshot.statuses()) {
          for (const quota of buckets) gauge.set({ source, bucket: quota.bucket }, getValue(quota));
        }
      },
    });
  }
  const ageGauge: Gauge = new Gauge({
    name: "collector_state_age_seconds",
    help: "Time since the other collector metrics were read from the database",
    registers,
    collect() {
      const ageMs = snapshot.ageMs();
      if (ageMs === undefined) ageGauge.remove();
      else ageGauge.set(ageMs / 1000);
    },
  });
}
