/** The Prometheus metrics of the sources that are collected from. */
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { ReadMetric } from "./read-metric.ts";

interface SourceMetric extends Pick<ReadMetric, "name" | "help"> {
  /** Whether the values are those of each quota. */
  readonly isByBucket?: true;
  getValues(status: SourceStatus): number | readonly { bucket: string; value: number }[];
}

const SOURCE_METRICS: readonly SourceMetric[] = [
  {
    name: "creator_metrics_collector_stopped",
    help: "1 if no requests are sent to a source until a known time or a change, else 0",
    getValues: ({ stopped }) => (stopped === undefined ? 0 : 1),
  },
  {
    name: "creator_metrics_collector_failing",
    help: "1 if no request to a source has succeeded since a failure, else 0",
    getValues: ({ failing }) => (failing === undefined ? 0 : 1),
  },
  {
    name: "creator_metrics_collector_requests_total",
    help: "Requests that were sent to a source",
    getValues: ({ work }) => work.requests,
  },
  {
    name: "creator_metrics_collector_observations_total",
    help: "Observations that a source gave",
    getValues: ({ work }) => work.observations,
  },
  {
    name: "creator_metrics_collector_observed_total",
    help: "Targets that were observed",
    getValues: ({ work }) => work.observed,
  },
  {
    name: "creator_metrics_collector_failed_total",
    help: "Targets that could not be observed",
    getValues: ({ work }) => work.failed,
  },
  {
    name: "creator_metrics_collector_quota_units_used",
    isByBucket: true,
    help: "Units of the quota day that are used",
    getValues: ({ buckets }) => buckets.map(({ bucket, used }) => ({ bucket, value: used })),
  },
  {
    name: "creator_metrics_collector_quota_units_limit",
    isByBucket: true,
    help: "Units of the quota day that may be used",
    getValues: ({ buckets }) => buckets.map(({ bucket, limit }) => ({ bucket, value: limit })),
  },
];

export const createSourceMetrics = (
  readSources: () => readonly SourceStatus[],
): readonly ReadMetric[] =>
  SOURCE_METRICS.map(({ name, help, isByBucket, getValues }) => ({
    name,
    help,
    labelNames: isByBucket ? ["source", "bucket"] : ["source"],
    read: () =>
      readSources().flatMap((status) => {
        const { source } = status;
        const values = getValues(status);
        return typeof values === "number"
          ? [{ labels: { source }, value: values }]
          : values.map(({ bucket, value }) => ({ labels: { source, bucket }, value }));
      }),
  }));
