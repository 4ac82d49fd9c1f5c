/**
 * The sources of observations as Prometheus reads them: as they were at the last look, so that an
 * answer never waits for the database.
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { SourceStatus } from "../../ports/collection.ts";

/** Time between two looks at the sources. */
const REFRESH_INTERVAL_MS = 5000;

/** The sources as they were at the last look. */
export interface SourceSnapshot {
  /** None until the first look succeeds. */
  statuses(): readonly SourceStatus[];
  /** How long ago the look began; `undefined` where there was none. */
  ageMs(): number | undefined;
  /** Looks now. @throws Where the database is away; what was seen last stays. */
  refresh(): Promise<readonly SourceStatus[]>;
  /** Ends the looks. */
  close(): void;
}

/**
 * Looks at the sources at once and from time to time.
 *
 * @param readSources How the sources are now.
 * @param now The clock, in milliseconds.
 */
export function createSourceSnapshot(
  readSources: () => Promise<SourceStatus[]>,
  now: () => number,
): SourceSnapshot {
  let latest: { readonly states: readonly SourceStatus[]; readonly at: number } | undefined;
  let isRefreshing = false;
  const refresh = async () => {
    const at = now();
    const states = await readSources();
    latest = { states, at };
    return states;
  };
  const refreshInBackground = async () => {
    if (isRefreshing) return;
    isRefreshing = true;
    try {
      await refresh();
    } catch {
      // The database is away; what was seen last stays, and its age tells.
    } finally {
      isRefreshing = false;
    }
  };
  void refreshInBackground();
  const timer = setInterval(() => void refreshInBackground(), REFRESH_INTERVAL_MS);
  timer.unref();
  return {
    statuses: () => latest?.states ?? [],
    ageMs: () => (latest === undefined ? undefined : Math.max(0, now() - latest.at)),
    refresh,
    close: () => clearInterval(timer),
  };
}

/** Makes the numbers of sources in a registry. */
export function registerSourceMetrics(
  registry: Registry,
  { statuses, ageMs }: SourceSnapshot,
): void {
  const registers: Registry[] = [];
  const metrics = [
    createFlagGauge(
      "stopped",
      "1 where a source is not asked until a stated time or a change, else 0",
    ),
    createFlagGauge(
      "failing",
      "1 where no request to a source has succeeded since a failure, else 0",
    ),
    createQuotaGauge("used", "Units of the quota day that are used", ({ used }) => used),
    createQuotaGauge("limit", "Units of the quota day that may be used", ({ limit }) => limit),
    createWorkCounter("requests", "Requests that were sent to a source"),
    createWorkCounter("observations", "Observations that a source gave"),
    createWorkCounter("observed", "Targets that were observed"),
    createWorkCounter("failed", "Targets that could not be observed"),
    new Gauge({
      name: "collector_state_age_seconds",
      help: "How long ago the other collector numbers were read from the database",
      registers,
      collect() {
        const age = ageMs();
        if (age === undefined) this.remove();
        else this.set(age / 1000);
      },
    }),
  ];
  for (const metric of metrics) registry.registerMetric(metric);

  function createFlagGauge(name: "stopped" | "failing", help: string) {
    return new Gauge({
      name: `collector_${name}`,
      help,
      labelNames: ["source"],
      registers,
      collect() {
        for (const state of statuses()) {
          this.set({ source: state.source }, state[name] === undefined ? 0 : 1);
        }
      },
    });
  }

  function createQuotaGauge(
    name: string,
    help: string,
    getValue: (bucket: SourceStatus["buckets"][number]) => number,
  ) {
    return new Gauge({
      name: `collector_quota_units_${name}`,
      help,
      labelNames: ["source", "bucket"],
      registers,
      collect() {
        for (const { source, buckets } of statuses()) {
          for (const quotaBucket of buckets)
            this.set({ source, bucket: quotaBucket.bucket }, getValue(quotaBucket));
        }
      },
    });
  }

  function createWorkCounter(name: keyof SourceStatus["work"], help: string) {
    return new Counter({
      name: `collector_${name}_total`,
      help,
      labelNames: ["source"],
      registers,
      collect() {
        this.reset();
        for (const { source, work: done } of statuses()) this.inc({ source }, done[name]);
      },
    });
  }
}
