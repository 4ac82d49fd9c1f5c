/** The Prometheus metrics of the service. */
import { Gauge, Registry, collectDefaultMetrics } from "prom-client";
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import { createNoticeMetrics } from "./notice-metrics.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { createSourceMetrics } from "./source-metrics.ts";

/** Default metrics of Node that Bun lacks or reports wrongly. */
const UNSUPPORTED_METRICS = /^(?:process_heap_bytes$|nodejs_(?:active_|gc_|heap_space_|version_))/;

/** The metrics of an app. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The sources of the metrics other than those of requests. */
export interface MetricsOptions {
  readonly collecting: { sources(): Promise<SourceStatus[]> };
  readonly notices: Pick<NoticeStore, "countUndelivered">;
  readonly database: {
    /** Why requests to the database are suspended; `undefined` if they are not. */
    getOutage(): Error | undefined;
  };
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
}

/** Creates the metrics. Their text is made from memory, so it never waits for the database. */
export function createMetrics({ collecting, notices, database, now }: MetricsOptions) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNSUPPORTED_METRICS.test(name)) registry.removeSingleMetric(name);
  }
  const sources = createSourceMetrics(registry, collecting.sources, now);
  const noticeCounts = createNoticeMetrics(registry, notices.countUndelivered, now);
  const databaseAwayGauge: Gauge = new Gauge({
    name: "database_away",
    help: "1 while a libSQL server does not answer and only probes are sent to it, else 0",
    registers: [registry],
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
