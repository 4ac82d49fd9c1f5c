/** The sources of observations as Prometheus reads them; looked up when it asks. */
import { Counter, Gauge, type Registry } from "prom-client";

/** How a source is. Instants are milliseconds since 1970 UTC. */
export interface SourceState {
  readonly source: string;
  /** `undefined` while it is asked. */
  readonly stopped:
    | { readonly reason: string; readonly since: number; readonly until: number | null }
    | undefined;
  /** `undefined` while it answers. */
  readonly failing: { readonly reason: string; readonly since: number } | undefined;
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
    flag("stopped", "1 where a source is not asked until a stated time or a change, else 0"),
    flag("failing", "1 where no request to a source has succeeded since a failure, else 0"),
    quota("used", "Units of the quota day that are used", ({ used }) => used),
    quota("limit", "Units of the quota day that may be used", ({ limit }) => limit),
    work("requests", "Requests that were sent to a source"),
    work("observations", "Observations that a source gave"),
    work("observed", "Targets that were observed"),
    work("failed", "Targets that could not be observed"),
  ];
  for (const metric of metrics) registry.registerMetric(metric);

  function flag(name: "stopped" | "failing", help: string) {
    return new Gauge({
      name: `collector_${name}`,
      help,
      labelNames: ["source"],
      registers,
      async collect() {
        for (const state of await states()) {
          this.set({ source: state.source }, state[name] === undefined ? 0 : 1);
        }
      },
    });
  }

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
