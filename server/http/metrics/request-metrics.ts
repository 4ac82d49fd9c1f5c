/**
 * Requests as Prometheus counts them. A request only adds to numbers; what is read of them is
 * written when it is asked for, since that is a thousand times rarer.
 */
import { Counter, Histogram, type Registry } from "prom-client";

/** Upper bounds of the buckets of durations, in seconds; beyond the last there is one more. */
const BUCKET_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Durations of a route: how many lie in each bucket, and their sum in seconds. */
interface Durations {
  readonly counts: number[];
  sum: number;
}

const DURATION_METRIC = {
  name: "http_request_duration_seconds",
  help: "Time from a request to its answer, by route",
};

/** A histogram that is given counts instead of single values. */
class DurationHistogram extends Histogram<"route"> {
  readonly durations = new Map<string, Durations>();

  /** What the library's own `get()` and its registry take the values from. */
  async getForPromString() {
    const values = Array.from(this.durations, ([route, { counts, sum }]) => {
      let upto = 0;
      const buckets = counts.map((count, index) => {
        upto += count;
        const le = BUCKET_BOUNDS_S[index] ?? "+Inf";
        return { labels: { le, route }, value: upto, metricName: `${DURATION_METRIC.name}_bucket` };
      });
      return [
        ...buckets,
        { labels: { route }, value: sum, metricName: `${DURATION_METRIC.name}_sum` },
        { labels: { route }, value: upto, metricName: `${DURATION_METRIC.name}_count` },
      ];
    });
    return { ...DURATION_METRIC, type: "histogram", values: values.flat() };
  }
}

/** Counts an answered request; `ms` is how long it took. */
export type RecordRequest = (route: string, method: string, status: number, ms: number) => void;

/** Makes the numbers of requests in a registry. */
export function createRequestMetrics(registry: Registry): RecordRequest {
  const countsByRoute = new Map<string, Map<string, Map<number, number>>>();
  const requests = new Counter({
    name: "http_requests_total",
    help: "Answered requests by route, method and status",
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
    routeDurations.sum += seconds;
    let bucket = 0;
    while (seconds > (BUCKET_BOUNDS_S[bucket] ?? Infinity)) bucket++;
    routeDurations.counts[bucket] = (routeDurations.counts[bucket] ?? 0) + 1;
  };
}

const createMethodCounts = () => new Map<string, Map<number, number>>();
const createStatusCounts = () => new Map<number, number>();
const createDurations = (): Durations => ({ counts: [...BUCKET_BOUNDS_S, 0].map(() => 0), sum: 0 });

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}
