/** The sources of observations as Prometheus reads them; looked up when it asks. */
import { Counter, Gauge, type Registry } from "prom-client";

/** How a source is. */
export interface SourceState {
  readonly source: string;
  /** `undefined` while it is asked; instants are milliseconds since 1970 UTC. */
  readonly stopped: { readonly reason: string; readonly until: number | null } | undefined;
  readonly buckets: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
  }[];
  /** Since the process started. */
  readonly work: {
    readonly requests: number;
    readonly observations: number;
    readonly observed: number;
    readonly failed: number;
  };
}

/** Makes the numbers of sources in a registry. */
export function countSources(registry: Registry, look: () => Promise<SourceState[]>): void {
  const registers: Registry[] = [];
  let looking: Promise<SourceState[]> | undefined;
  // All are collected at once: one look serves them.
  const states = () =>
    (looking ??= look().finally(() => {
      looking = undefined;
    }));
  const metrics = [
    new Gauge({
      name: "collector_stopped",
      help: "1 where a source is not asked until a stated time or a change, else 0",
      labelNames: ["source"],
      registers,
      async collect() {
        for (const { source, stopped } of await states()) {
          this.set({ source }, stopped === undefined ? 0 : 1);
        }
      },
    }),
    quota("used", "Units of the quota day that are used", ({ used }) => used),
    quota("limit", "Units of the quota day that may be used", ({ limit }) => limit),
    work("requests", "Requests that were sent to a source"),
    work("observations", "Observations that a source gave"),
    work("observed", "Targets that were observed"),
    work("failed", "Targets that could not be observed"),
  ];
  for (const metric of metrics) registry.registerMetric(metric);

  function quota(
    name: string,
    help: string,
    valueOf: (bucket: SourceState["buckets"][number]) => number,
  ) {
    return new Gauge({
      name: `collector_quota_units_${name}`,
      help,
      labelNames: ["source", "bucket"],
      registers,
      async collect() {
        for (const { source, buckets } of await states()) {
          for (const of of buckets) this.set({ source, bucket: of.bucket }, valueOf(of));
        }
      },
    });
  }

  function work(name: keyof SourceState["work"], help: string) {
    return new Counter({
      name: `collector_${name}_total`,
      help,
      labelNames: ["source"],
      registers,
      async collect() {
        this.reset();
        for (const { source, work: done } of await states()) this.inc({ source }, done[name]);
      },
    });
  }
}
