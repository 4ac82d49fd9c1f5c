/**
 * The Prometheus metrics. A scrape reads snapshots of the database; if it does not answer at once,
 * the scrape shows the last ones.
 */
import pTimeout from "p-timeout";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { SourceStatus } from "../collectors/source-health.ts";
import type { NoticeStore } from "../store/accounts/notices.ts";

/** How long a scrape waits for the database, whose answer usually takes a few milliseconds. */
const SNAPSHOT_WAIT_MS = 100;

/**
 * The time between two samples of the delay of the event loop. Each sample wakes the process: one
 * every 10 ms, the default, takes 0.4 % of a core of an idle service.
 */
const EVENT_LOOP_SAMPLE_MS = 1000;

/** The upper bounds of the duration buckets; one more bucket counts all longer durations. */
const BUCKET_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const DURATION = {
  name: "http_request_duration_seconds",
  help: "Time from a request to its response, by route",
};

/** Default metrics of Node that Bun lacks or reports wrongly. */
const UNSUPPORTED_METRICS = /^(?:process_heap_bytes$|nodejs_(?:active_|gc_|heap_space_|version_))/;

interface SourceMetric {
  readonly help: string;
  getValues(status: SourceStatus): number | readonly { bucket: string; value: number }[];
}

const SOURCE_METRICS: Readonly<Record<string, SourceMetric>> = {
  collector_stopped: {
    help: "1 if no requests are sent to a source until a known time or a change, else 0",
    getValues: ({ stopped }) => (stopped === undefined ? 0 : 1),
  },
  collector_failing: {
    help: "1 if no request to a source has succeeded since a failure, else 0",
    getValues: ({ failing }) => (failing === undefined ? 0 : 1),
  },
  collector_requests_total: {
    help: "Requests that were sent to a source",
    getValues: ({ work }) => work.requests,
  },
  collector_observations_total: {
    help: "Observations that a source gave",
    getValues: ({ work }) => work.observations,
  },
  collector_observed_total: {
    help: "Targets that were observed",
    getValues: ({ work }) => work.observed,
  },
  collector_failed_total: {
    help: "Targets that could not be observed",
    getValues: ({ work }) => work.failed,
  },
  collector_quota_units_used: {
    help: "Units of the quota day that are used",
    getValues: ({ buckets }) => buckets.map(({ bucket, used }) => ({ bucket, value: used })),
  },
  collector_quota_units_limit: {
    help: "Units of the quota day that may be used",
    getValues: ({ buckets }) => buckets.map(({ bucket, limit }) => ({ bucket, value: limit })),
  },
};

interface MetricsOptions {
  readonly collecting: { sources(): Promise<SourceStatus[]> };
  readonly notices: Pick<NoticeStore, "countUndelivered">;
  /** Returns why requests to the database are suspended; `undefined` if they are not. */
  readonly database: { getOutage(): Error | undefined };
  now(): number;
}

export function createMetrics({ collecting, notices, database, now }: MetricsOptions) {
  const registry = createRegistry();
  const registers = [registry];
  const sources = createSnapshot(collecting.sources, now);
  for (const [name, { help, getValues }] of Object.entries(SOURCE_METRICS)) {
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      name,
      help,
      labelNames: ["source", "bucket"],
      registers,
      collect() {
        metric.reset();
        for (const status of sources.value() ?? []) {
          const { source } = status;
          const values = getValues(status);
          if (typeof values === "number") metric.inc({ source }, values);
          else for (const { bucket, value } of values) metric.inc({ source, bucket }, value);
        }
      },
    });
  }
  const ageGauge: Gauge = new Gauge({
    name: "collector_state_age_seconds",
    help: "Time since the other collector metrics were read from the database",
    registers,
    collect() {
      const ageMs = sources.ageMs();
      if (ageMs === undefined) ageGauge.remove();
      else ageGauge.set(ageMs / 1000);
    },
  });
  const noticeCounts = createSnapshot(notices.countUndelivered, now);
  const noticeGauge: Gauge = new Gauge({
    name: "undelivered_notices",
    help: "Notices about low balances by state: pending ones are tried again, failed ones are not",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(noticeCounts.value() ?? {})) {
        noticeGauge.set({ state }, count);
      }
    },
  });
  const databaseAwayGauge: Gauge = new Gauge({
    name: "database_away",
    help: "1 while a libSQL server does not answer and only probes are sent to it, else 0",
    registers,
    collect: () => databaseAwayGauge.set(database.getOutage() === undefined ? 0 : 1),
  });
  return {
    contentType: registry.contentType,
    async text(): Promise<string> {
      await pTimeout(Promise.all([sources.update(), noticeCounts.update()]), {
        milliseconds: SNAPSHOT_WAIT_MS,
        fallback: () => undefined,
      });
      return registry.metrics();
    },
    recordRequest: createRequestMetrics(registry),
    /** Reads the status of the sources, which the metrics then show too. */
    refreshSources: sources.read,
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

/** The requests of a route, counted by duration, and by method and status. */
const createRouteCounts = () => ({
  buckets: [...BUCKET_BOUNDS_S, 0].map(() => 0),
  sumS: 0,
  statusesByMethod: new Map<string, Map<number, number>>(),
});

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

/**
 * Registers the metrics of the requests; returns the function that counts a completed request. It
 * only adds to plain numbers, because that is several times as fast as prom-client; a scrape, far
 * rarer, turns them into samples.
 */
function createRequestMetrics(registry: Registry) {
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

function createSnapshot<Value>(readValue: () => Promise<Value>, now: () => number) {
  let latest: { readonly value: Value; readonly at: number } | undefined;
  let running: Promise<void> | undefined;
  const read = async () => {
    const at = now();
    const value = await readValue();
    latest = { value, at };
    return value;
  };
  return {
    value: () => latest?.value,
    /** The time since the last successful read began; `undefined` before the first. */
    ageMs: () => (latest === undefined ? undefined : Math.max(0, now() - latest.at)),
    /** Reads the value now. It rejects if the database is away; the last value then stays. */
    read,
    /** Reads the value, unless that is going on already. If it fails, the last value stays. */
    update(): Promise<void> {
      const onSettled = () => void (running = undefined);
      return (running ??= read().then(onSettled, onSettled));
    },
  };
}
