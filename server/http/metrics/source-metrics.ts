/** Metrics of the sources of observations, from a snapshot of their status. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { SourceStatus } from "../../collectors/source-health.ts";
import { createSnapshot } from "./snapshot.ts";

/** A metric of each source. A name with `_total` makes it a counter. */
interface SourceMetric {
  readonly name: string;
  readonly help: string;
  /** The values of a source: one, or one for each bucket of its quota. */
  getValues(status: SourceStatus): readonly { readonly bucket?: string; readonly value: number }[];
}

const SOURCE_METRICS: readonly SourceMetric[] = [
  {
    name: "collector_stopped",
    help: "1 if no requests are sent to a source until a known time or a change, else 0",
    getValues: ({ stopped }) => [{ value: stopped === undefined ? 0 : 1 }],
  },
  {
    name: "collector_failing",
    help: "1 if no request to a source has succeeded since a failure, else 0",
    getValues: ({ failing }) => [{ value: failing === undefined ? 0 : 1 }],
  },
  {
    name: "collector_requests_total",
    help: "Requests that were sent to a source",
    getValues: ({ work }) => [{ value: work.requests }],
  },
  {
    name: "collector_observations_total",
    help: "Observations that a source gave",
    getValues: ({ work }) => [{ value: work.observations }],
  },
  {
    name: "collector_observed_total",
    help: "Targets that were observed",
    getValues: ({ work }) => [{ value: work.observed }],
  },
  {
    name: "collector_failed_total",
    help: "Targets that could not be observed",
    getValues: ({ work }) => [{ value: work.failed }],
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

/** Registers the metrics of the sources; returns the snapshot that they are read from. */
export function createSourceMetrics(
  registry: Registry,
  readSources: () => Promise<SourceStatus[]>,
  now: () => number,
) {
  const snapshot = createSnapshot(readSources, now);
  const registers = [registry];
  for (const { name, help, getValues } of SOURCE_METRICS) {
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      name,
      help,
      labelNames: ["source", "bucket"],
      registers,
      collect() {
        metric.reset();
        for (const status of snapshot.value() ?? []) {
          for (const { value, ...labels } of getValues(status))
            metric.inc({ source: status.source, ...labels }, value);
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
  return snapshot;
}
