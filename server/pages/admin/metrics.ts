/** Reads the metrics of the running service, and computes rates and durations from two readings. */

/** The counts of a route since the start of the service. */
export interface RouteCounts {
  readonly requests: number;
  /** Responses with 4xx. */
  readonly refused: number;
  /** Responses with 5xx. */
  readonly failed: number;
  /** Requests by duration: how many took no longer than each bound. */
  readonly buckets: readonly number[];
}

type MutableCounts = { -readonly [Name in keyof RouteCounts]: RouteCounts[Name] };

/** The metrics at one time. */
export interface MetricsReading {
  readonly at: number;
  readonly routes: ReadonlyMap<string, RouteCounts>;
  /** Upper bounds of the buckets in seconds; the last one is infinite. */
  readonly boundsS: readonly number[];
  /** Bytes of memory, and seconds of processor time since the start, if they are known. */
  readonly memoryBytes: number | undefined;
  readonly cpuSeconds: number | undefined;
}

/** The counts between two readings. */
interface MetricsChange extends RouteCounts {
  readonly seconds: number;
}

/** The page's own readings are no requests of clients. */
const OWN_ROUTE = "/metrics";

/** A sample in the text format of Prometheus. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function* parseSamples(text: string): Generator<Sample> {
  for (const line of text.split("\n")) {
    const [, name, labelText = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
    const labels = Object.fromEntries(Array.from(pairs, ([, key, label]) => [key, label]));
    yield { name, labels, value: Number(value) };
  }
}

/** Parses metrics in the text format of Prometheus. */
export function parseMetrics(text: string, at: number): MetricsReading {
  const routes = new Map<string, MutableCounts>();
  const bounds = new Set<number>();
  const single = new Map<string, number>();
  for (const { name, labels, value } of parseSamples(text)) {
    const { route, status = "", le } = labels;
    if (route === undefined) single.set(name, value);
    if (route === undefined || route === OWN_ROUTE) continue;
    const counts = routes.get(route) ?? { ...NOTHING };
    routes.set(route, counts);
    if (name === "http_requests_total") {
      counts.requests += value;
      if (status.startsWith("4")) counts.refused += value;
      if (status.startsWith("5")) counts.failed += value;
    }
    if (name === "http_request_duration_seconds_bucket") {
      bounds.add(le === "+Inf" ? Infinity : Number(le));
      counts.buckets = [...counts.buckets, value];
    }
  }
  return {
    at,
    routes,
    boundsS: [...bounds],
    memoryBytes: single.get("process_resident_memory_bytes"),
    cpuSeconds: single.get("process_cpu_seconds_total"),
  };
}

const NOTHING: RouteCounts = { requests: 0, refused: 0, failed: 0, buckets: [] };

/** Adds counts to others, or subtracts them with the sign -1. */
function addCounts(first: RouteCounts, second: RouteCounts, sign = 1): RouteCounts {
  const { length } = first.buckets.length === 0 ? second.buckets : first.buckets;
  return {
    requests: first.requests + sign * second.requests,
    refused: first.refused + sign * second.refused,
    failed: first.failed + sign * second.failed,
    buckets: Array.from(
      { length },
      (_, index) => (first.buckets[index] ?? 0) + sign * (second.buckets[index] ?? 0),
    ),
  };
}

/** Counts the requests between two readings, by route. */
export function compareRoutes(
  before: MetricsReading,
  after: MetricsReading,
): Map<string, MetricsChange> {
  const seconds = (after.at - before.at) / 1000;
  return new Map(
    Array.from(after.routes, ([route, counts]) => {
      const change = addCounts(counts, before.routes.get(route) ?? NOTHING, -1);
      return [route, { seconds, ...change }];
    }),
  );
}

/** Adds up changes of routes. */
export function addChanges(changes: Iterable<RouteCounts>): RouteCounts {
  return [...changes].reduce((sum, change) => addCounts(sum, change), NOTHING);
}

/**
 * Estimates below which duration a share of the requests stayed, as Prometheus does: evenly spread
 * within a bucket.
 *
 * @param share From 0 to 1.
 * @returns Seconds, at most the greatest finite bound; `null` without requests.
 *
 * @example
 * estimateQuantile([1, 2, Infinity], [50, 100, 100], 0.75); // 1.5
 */
export function estimateQuantile(
  boundsS: readonly number[],
  buckets: readonly number[],
  share: number,
): number | null {
  const total = buckets.at(-1) ?? 0;
  if (total <= 0) return null;
  const rank = share * total;
  const index = buckets.findIndex((count) => count >= rank);
  const [lower, upper] = [boundsS[index - 1] ?? 0, boundsS[index] ?? Infinity];
  if (upper === Infinity) return lower;
  const [below, within] = [buckets[index - 1] ?? 0, buckets[index] ?? 0];
  return lower + (upper - lower) * ((rank - below) / (within - below));
}
