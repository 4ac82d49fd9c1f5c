/**
 * The sources of observations as Prometheus reads them: as they were at the last look, so that an
 * answer never waits for the database.
 */
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

/** Time between two looks at the sources. */
const LOOK_INTERVAL_MS = 5000;

/** The sources as they were at the last look. */
export interface SourceSnapshot {
  /** None until the first look succeeds. */
  states(): readonly SourceState[];
  /** How long ago the look began; `undefined` where there was none. */
  ageMs(): number | undefined;
  /** Looks now. @throws Where the database is away; what was seen last stays. */
  refresh(): Promise<readonly SourceState[]>;
  /** Ends the looks. */
  close(): void;
}

/**
 * Looks at the sources at once and from time to time.
 *
 * @param look How the sources are now.
 * @param now The clock, in milliseconds.
 */
export function watchSources(
  look: () => Promise<SourceState[]>,
  now: () => number,
): SourceSnapshot {
  let seen: { readonly states: readonly SourceState[]; readonly at: number } | undefined;
  let isLooking = false;
  const refresh = async () => {
    const at = now();
    const states = await look();
    seen = { states, at };
    return states;
  };
  const lookAgain = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      await refresh();
    } catch {
      // The database is away; what was seen last stays, and its age tells.
    } finally {
      isLooking = false;
    }
  };
  void lookAgain();
  const timer = setInterval(() => void lookAgain(), LOOK_INTERVAL_MS);
  timer.unref();
  return {
    states: () => seen?.states ?? [],
    ageMs: () => (seen === undefined ? undefined : Math.max(0, now() - seen.at)),
    refresh,
    close: () => clearInterval(timer),
  };
}

/** Makes the numbers of sources in a registry. */
export function countSources(registry: Registry, { states, ageMs }: SourceSnapshot): void {
  const registers: Registry[] = [];
  const metrics = [
    flag("stopped", "1 where a source is not asked until a stated time or a change, else 0"),
    flag("failing", "1 where no request to a source has succeeded since a failure, else 0"),
    quota("used", "Units of the quota day that are used", ({ used }) => used),
    quota("limit", "Units of the quota day that may be used", ({ limit }) => limit),
    work("requests", "Requests that were sent to a source"),
    work("observations", "Observations that a source gave"),
    work("observed", "Targets that were observed"),
    work("failed", "Targets that could not be observed"),
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

  function flag(name: "stopped" | "failing", help: string) {
    return new Gauge({
      name: `collector_${name}`,
      help,
      labelNames: ["source"],
      registers,
      collect() {
        for (const state of states()) {
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
      collect() {
        for (const { source, buckets } of states()) {
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
      collect() {
        this.reset();
        for (const { source, work: done } of states()) this.inc({ source }, done[name]);
      },
    });
  }
}
