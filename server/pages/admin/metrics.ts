/** Parses the metrics of the running service, subtracts readings, and estimates durations. */

interface RouteCounts {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /** Requests by duration: how many took no longer than each bound. */
  readonly buckets: readonly number[];
}

/** The route of the page's own readings, which do not count as requests of clients. */
const OWN_ROUTE = "/metrics";

const NOTHING: RouteCounts = { requests: 0, refused: 0, failed: 0, buckets: [] };

export function parseMetrics(text: string, at: number) {
  const routes = new Map<string, RouteCounts>();
  const bounds = new Set<number>();
  const single = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, labelText = "", valueText] = /^(\w+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    const value = Number(valueText);
    const pairs = labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
    const labels = new Map(Array.from(pairs, ([, key, label]) => [key, label]));
    const [route, status = "", bound] = ["route", "status", "le"].map((key) => labels.get(key));
    if (route === undefined) single.set(name, value);
    if (route === undefined || route === OWN_ROUTE) continue;
    const counts = routes.get(route) ?? NOTHING;
    const requests = name === "http_requests_total" ? value : 0;
    const isBucket = name === "http_request_duration_seconds_bucket";
    if (isBucket) bounds.add(bound === "+Inf" ? Infinity : Number(bound));
    routes.set(route, {
      requests: counts.requests + requests,
      refused: counts.refused + (status.startsWith("4") ? requests : 0),
      failed: counts.failed + (status.startsWith("5") ? requests : 0),
      buckets: isBucket ? [...counts.buckets, value] : counts.buckets,
    });
  }
  return {
    at,
    routes,
    total: [...routes.values()].reduce((sum, counts) => addCounts(sum, counts), NOTHING),
    /** Upper bounds of the buckets in seconds; the last one is infinite. */
    boundsS: [...bounds],
    memoryBytes: single.get("process_resident_memory_bytes"),
    cpuSeconds: single.get("process_cpu_seconds_total"),
  };
}

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

export const subtractCounts = (after: RouteCounts, before: RouteCounts = NOTHING): RouteCounts =>
  addCounts(after, before, -1);

/** Estimates a quantile in seconds, as Prometheus does: evenly spread within a bucket. */
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
