/**
 * The Prometheus metrics. A scrape reads snapshots of the database; if it does not answer at once,
 * the scrape shows the last ones.
 */
import pTimeout from "p-timeout";
import { collectDefaultMetrics, Registry } from "prom-client";
import { createBackupMetrics, type BackupOptions } from "./backup-metrics.ts";
import { createEventLoopSampler } from "./event-loop-delay.ts";
import { registerHistogram } from "./histogram-metric.ts";
import { createPartMetrics, registerPartHistograms, type PartOptions } from "./part-metrics.ts";
import { registerMetric } from "./read-metric.ts";
import { createRequestMetrics } from "./request-metrics.ts";
import { createStateMetrics, type StateOptions } from "./state-metrics.ts";

/** How long a scrape waits for the database, whose answer usually takes a few milliseconds. */
const SNAPSHOT_WAIT_MS = 100;

/**
 * The time between two samples of the delay of the event loop. Each sample wakes the process: one
 * every 10 ms, the default, takes 0.4 % of a core of an idle service.
 */
const EVENT_LOOP_SAMPLE_MS = 1000;

/** Default metrics of Node that Bun lacks or reports wrongly. */
const UNSUPPORTED_METRICS = /^(?:process_heap_bytes$|nodejs_(?:active_|gc_|heap_space_|version_))/;

interface MetricsOptions extends PartOptions, StateOptions, BackupOptions {
  readonly databases: PartOptions["databases"] & StateOptions["databases"];
}

export function createMetrics(options: MetricsOptions) {
  const registry = createRegistry();
  const state = createStateMetrics(options);
  const partMetrics = [...createPartMetrics(options), ...createBackupMetrics(options)];
  for (const metric of [...state.metrics, ...partMetrics]) registerMetric(registry, metric);
  registerPartHistograms(registry, options);
  const recordRequest = createRequestMetrics(registry);
  const eventLoop = createEventLoopSampler();
  const eventLoopDelay = {
    name: "creator_metrics_event_loop_delay_seconds",
    help: "How late timers run while requests come, every 20 ms",
  };
  registerHistogram(registry, eventLoopDelay, () => [{ labels: {}, histogram: eventLoop.delays }]);
  return {
    registry,
    contentType: registry.contentType,
    async text(): Promise<string> {
      await pTimeout(state.update(), {
        milliseconds: SNAPSHOT_WAIT_MS,
        fallback: () => undefined,
      });
      return registry.metrics();
    },
    recordRequest(route: string, method: string, status: number, ms: number): void {
      recordRequest(route, method, status, ms);
      eventLoop.wake();
    },
    refreshSources: state.refreshSources,
  };
}

function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNSUPPORTED_METRICS.test(name)) registry.removeSingleMetric(name);
  }
  return registry;
}
