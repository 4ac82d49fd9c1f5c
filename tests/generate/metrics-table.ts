/** The rows of the table of Prometheus metrics, from a process that has every part. */
import { createMetrics } from "../../server/http/metrics/metrics.ts";
import { createHistogram } from "../../server/telemetry/histogram.ts";

/** The metrics of the runtime have the same names in every program with the library. */
const RUNTIME = /^(?:process|nodejs)_/;

/** A metric as it is declared. */
export interface DeclaredMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

const none = async () => undefined;
const zero = () => 0;
const lease = { isHeld: () => false };

/** Lists the metrics of the service, but not those of the runtime, by name. */
export function listDeclaredMetrics(): DeclaredMetric[] {
  const histogram = createHistogram([1]);
  const { registry } = createMetrics({
    debitQueue: {
      counts: {
        commits: { durations: histogram, requests: histogram, failures: 0 },
        countWaitingDebits: zero,
        countPendingRefunds: zero,
      },
    },
    waitForSlot: { countWaiting: zero },
    responseCache: { reads: { hit: 0, miss: 0 }, readUse: () => ({ entries: 0, bytes: 0 }) },
    imports: { counts: { lines: {}, durations: histogram, countRunning: zero } },
    roles: { backup: lease, collector: lease, committer: lease, maintenance: lease },
    debitCommits: { counts: {} },
    pictures: { counts: {} },
    freeReads: { count: zero },
    noticeAttempts: {},
    collecting: { sources: async () => [] },
    notices: { countUndelivered: async () => ({ pending: 0, failed: 0 }) },
    databases: {
      getOutage: () => undefined,
      replica: { counts: { replica: 0, primary: 0 }, getFailure: () => undefined },
      readFileUse: none,
      countUnpublished: async () => 0,
    },
    backups: { readScheduled: () => undefined },
    spool: { readUse: async () => ({ files: {}, bytes: 0 }) },
    forecastCredits: async () => [],
    now: zero,
  });
  return registry
    .getMetricsAsArray()
    .filter(({ name }) => !RUNTIME.test(name))
    .map((metric) => ({
      name: metric.name,
      help: metric.help,
      // A prom-client metric has these two at run time only.
      type: metric.name.endsWith("_total") ? "counter" : readType(metric),
      labels: (Reflect.get(metric, "labelNames") ?? []) as string[],
    }))
    .toSorted((first, second) => first.name.localeCompare(second.name, "en"));
}

const readType = (metric: object): string =>
  Reflect.get(metric, "buckets") === undefined && Reflect.get(metric, "upperBounds") === undefined
    ? "gauge"
    : "histogram";
