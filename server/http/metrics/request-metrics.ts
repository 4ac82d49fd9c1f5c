/**
 * Metrics of the requests. A request only adds to plain numbers, because that is several times as
 * fast as prom-client; a scrape, far rarer, turns them into samples.
 */
import { Counter, Histogram, type Registry } from "prom-client";

/** The upper bounds of the duration buckets; one more bucket is for all beyond the last. */
const BUCKET_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** The durations of a route: the count of each bucket, and their sum. */
interface Durations {
  readonly counts: number[];
  sumS: number;
}

const DURATION_METRIC = {
  name: "http_request_duration_seconds",
  help: "Time from a request to its response, by route",
};

/** A histogram that takes counts instead of single values. */
class DurationHistogram extends Histogram<"route"> {
  readonly durations = new Map<string, Durations>();

  /** The registry of prom-client reads the samples here. */
  async getForPromString() {
    const values = Array.from(this.durations, ([route, { counts, sumS }]) => {
      let cumulativeCount = 0;
      const buckets = counts.map((count, index) => {
        cumulativeCount += count;
        const le = BUCKET_BOUNDS_S[index] ?? "+Inf";
        return {
          labels: { le, route },
          value: cumulativeCount,
          metricName: `${DURATION_METRIC.name}_bucket`,
        };
      });
      return [
        ...buckets,
        { labels: { route }, value: sumS, metricName: `${DURATION_METRIC.name}_sum` },
        { labels: { route }, value: cumulativeCount, metricName: `${DURATION_METRIC.name}_count` },
      ];
    });
    return { ...DURATION_METRIC, type: "histogram", values: values.flat() };
  }
}

/** Counts a completed request. */
export type RecordRequest = (route: string, method: string, status: number, ms: number) => void;

/** Registers the metrics of the requests. */
export function createRequestMetrics(registry: Registry): RecordRequest {
  const countsByRoute = new Map<string, Map<string, Map<number, number>>>();
  const requests = new Counter({
    name: "http_requests_total",
    help: "Completed requests by route, method and status",
    labelNames: ["route", "method", "status"],
    registers: [],
    collect() {
      this.reset();
      for (const [route, methods] of countsByRoute) {
        for (const [method, statuses] of methods) {
          for (const [status, count] of statuses) this.inc({ route, method, status }, count);
        }
      }
    },
  });
  registry.registerMetric(requests);
  const { durations } = new DurationHistogram({
    ...DURATION_METRIC,
    labelNames: ["route"],
    buckets: BUCKET_BOUNDS_S,
    registers: [registry],
  });
  return (route, method, status, ms) => {
    const statuses = getOrCreate(
      getOrCreate(countsByRoute, route, createMethodCounts),
      method,
      createStatusCounts,
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const routeDurations = getOrCreate(durations, route, createDurations);
    const seconds = ms / 1000;
    routeDurations.sumS += seconds;
    let bucket = 0;
    while (seconds > (BUCKET_BOUNDS_S[bucket] ?? Infinity)) bucket++;
    routeDurations.counts[bucket] = (routeDurations.counts[bucket] ?? 0) + 1;
  };
}

const createMethodCounts = () => new Map<string, Map<number, number>>();
const createStatusCounts = () => new Map<number, number>();
const createDurations = (): Durations => ({
  counts: [...BUCKET_BOUNDS_S, 0].map(() => 0),
  sumS: 0,
});

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}
