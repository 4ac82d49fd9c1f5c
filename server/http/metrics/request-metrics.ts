/**
 * Metrics of the requests. A request only adds to plain numbers, because that is several times as
 * fast as prom-client; a scrape, far rarer, turns them into samples.
 */
import { Counter, Histogram, type Registry } from "prom-client";

/** The upper bounds of the duration buckets; one more bucket is for all beyond the last. */
const BUCKET_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const DURATION = {
  name: "http_request_duration_seconds",
  help: "Time from a request to its response, by route",
};

/** The requests of a route: how many took how long, and how many a method and status had. */
function createRouteCounts() {
  return {
    buckets: [...BUCKET_BOUNDS_S, 0].map(() => 0),
    sumS: 0,
    statusesByMethod: new Map<string, Map<number, number>>(),
  };
}

type CountsByRoute = Map<string, ReturnType<typeof createRouteCounts>>;

/** A histogram that takes counts instead of single values. */
class DurationHistogram extends Histogram<"route"> {
  readonly countsByRoute: CountsByRoute = new Map();

  /** The registry of prom-client reads the samples here. */
  async getForPromString() {
    const values = Array.from(this.countsByRoute, ([route, { buckets, sumS }]) => {
      let cumulativeCount = 0;
      const samples = buckets.map((count, index) => {
        cumulativeCount += count;
        const labels = { le: BUCKET_BOUNDS_S[index] ?? "+Inf", route };
        return { labels, value: cumulativeCount, metricName: `${DURATION.name}_bucket` };
      });
      const sum = { labels: { route }, value: sumS, metricName: `${DURATION.name}_sum` };
      const count = { ...sum, value: cumulativeCount, metricName: `${DURATION.name}_count` };
      return [...samples, sum, count];
    });
    return { ...DURATION, type: "histogram", values: values.flat() };
  }
}

/** Registers the metrics of the requests; returns the function that counts a completed request. */
export function createRequestMetrics(registry: Registry) {
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
  const { countsByRoute } = new DurationHistogram({
    ...DURATION,
    labelNames: ["route"],
    buckets: BUCKET_BOUNDS_S,
    registers: [registry],
  });
  return (route: string, method: string, status: number, ms: number): void => {
    let counts = countsByRoute.get(route);
    if (counts === undefined) countsByRoute.set(route, (counts = createRouteCounts()));
    const { buckets, statusesByMethod } = counts;
    let statuses = statusesByMethod.get(method);
    if (statuses === undefined) statusesByMethod.set(method, (statuses = new Map()));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const seconds = ms / 1000;
    counts.sumS += seconds;
    let bucket = 0;
    while (seconds > (BUCKET_BOUNDS_S[bucket] ?? Infinity)) bucket++;
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  };
}
