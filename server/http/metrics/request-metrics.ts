/** The Prometheus metrics of requests: how many were completed, and how long they took. */
import { Counter, type Registry } from "prom-client";
import { addValue, createHistogram } from "../../telemetry/histogram.ts";
import { registerHistogram } from "./histogram-metric.ts";

/** The upper bounds of the duration buckets, in seconds. */
const BUCKET_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** The requests of a route, by duration, and by method and status. */
const createRouteCounts = () => ({
  durations: createHistogram(BUCKET_BOUNDS_S),
  statusesByMethod: new Map<string, Map<number, number>>(),
});

/**
 * Registers the metrics of the requests; returns the function that counts a completed request. It
 * only adds to plain numbers, because that is several times as fast as prom-client; a scrape, far
 * rarer, turns them into samples.
 */
export function createRequestMetrics(registry: Registry) {
  const countsByRoute = new Map<string, ReturnType<typeof createRouteCounts>>();
  const requests = new Counter({
    name: "http_requests_total",
    help: "Completed requests by route, method and status",
    labelNames: ["route", "method", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [route, { statusesByMethod }] of countsByRoute) {
        for (const [method, statuses] of statusesByMethod) {
          for (const [status, count] of statuses) requests.inc({ route, method, status }, count);
        }
      }
    },
  });
  const duration = {
    name: "http_request_duration_seconds",
    help: "Time from a request to its response, by route",
    labelNames: ["route"],
  };
  registerHistogram(registry, duration, () =>
    Array.from(countsByRoute, ([route, counts]) => ({
      labels: { route },
      histogram: counts.durations,
    })),
  );
  return (route: string, method: string, status: number, ms: number): void => {
    let counts = countsByRoute.get(route);
    if (counts === undefined) countsByRoute.set(route, (counts = createRouteCounts()));
    const { durations, statusesByMethod } = counts;
    let statuses = statusesByMethod.get(method);
    if (statuses === undefined) statusesByMethod.set(method, (statuses = new Map()));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    addValue(durations, ms / 1000);
  };
}
