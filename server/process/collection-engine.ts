/** The collectors put together with what the service has. */
import type { Config } from "../config.ts";
import { createPollCycle } from "../collectors/poll-cycle.ts";
import type {
  CollectionState,
  SourceCounters,
  SourceEvent,
  SourceStatus,
} from "../ports/collection.ts";
import type { ImportObservations } from "../ports/reads.ts";
import type { RunnerOptions } from "../collectors/source-runner.ts";
import { createCollectors } from "../collectors/create-collectors.ts";
import { startPollLoop } from "../collectors/poll-loop.ts";

/** What the collectors are put together of. */
export interface CollectionEngineOptions {
  readonly config: Config;
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  report(event: SourceEvent): void;
  /** How often it is looked for what is due at least; every half a minute unless told. */
  readonly maxPollIntervalMs?: number;
  /** How answers are waited for; see the client. */
  readonly client?: RunnerOptions["client"];
}

/** Puts the collectors together. */
export function createCollectionEngine({
  config,
  now,
  maxPollIntervalMs,
  ...parts
}: CollectionEngineOptions) {
  // Each source takes turns of its own: one that keeps its requests waiting delays no other.
  const pollCycles = createCollectors(config.collectors).map((collector) =>
    createPollCycle({ ...parts, now, collector }),
  );
  const sources = () => Promise.all(pollCycles.map((turns) => turns.status()));
  return {
    /** How the sources are. */
    sources,

    /** Collects what is due now, whatever the pace. @returns What this did, by source. */
    async collect(): Promise<SourceStatus[]> {
      const before = await sources();
      const results = await Promise.allSettled(pollCycles.map((turns) => turns.collect(false)));
      for (const result of results) if (result.status === "rejected") throw result.reason;
      const after = await sources();
      return after.map((source, index) =>
        Object.assign(source, { work: subtractWork(source.work, before[index]?.work) }),
      );
    },

    /**
     * Collects from now on, at the pace of the quotas.
     *
     * @returns What ends it.
     */
    start(onFailure: (error: unknown) => void): () => Promise<void> {
      const stops = pollCycles.map((turns) =>
        startPollLoop(turns, now, onFailure, maxPollIntervalMs),
      );
      return async () => void (await Promise.all(stops.map((end) => end())));
    },
  };
}

function subtractWork(after: SourceCounters, before = after): SourceCounters {
  return {
    requests: after.requests - before.requests,
    observed: after.observed - before.observed,
    failed: after.failed - before.failed,
    observations: after.observations - before.observations,
  };
}
