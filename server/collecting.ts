/** The collectors put together with what the service has. */
import type { Config } from "./config.ts";
import { createTurns } from "./collectors/turns.ts";
import type { SourceEvent, SourceStatus } from "./collectors/status.ts";
import type { CollectionState } from "./collectors/state.ts";
import type { TakeIn } from "./collectors/errand.ts";
import type { RunnerParts } from "./collectors/runner.ts";
import { createCollectors } from "./collectors/sources.ts";
import { runLoop } from "./collectors/loop.ts";

/** What the collectors are put together of. */
export interface CollectingParts {
  readonly config: Config;
  readonly state: CollectionState;
  readonly takeIn: TakeIn;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  report(event: SourceEvent): void;
  /** How often it is looked for what is due at least; every half a minute unless told. */
  readonly lookEveryMs?: number;
  /** How answers are waited for; see the client. */
  readonly client?: RunnerParts["client"];
}

/** Puts the collectors together. */
export function createCollecting({ config, now, lookEveryMs, ...parts }: CollectingParts) {
  // Each source takes turns of its own: one that keeps its requests waiting delays no other.
  const sourceTurns = createCollectors(config.collectors).map((collector) =>
    createTurns({ ...parts, now, collector }),
  );
  const sources = () => Promise.all(sourceTurns.map((turns) => turns.status()));
  return {
    /** How the sources are. */
    sources,

    /** Collects what is due now, whatever the pace. @returns What this did, by source. */
    async collect(): Promise<SourceStatus[]> {
      const before = await sources();
      const ended = await Promise.allSettled(sourceTurns.map((turns) => turns.collect(false)));
      for (const turn of ended) if (turn.status === "rejected") throw turn.reason;
      const after = await sources();
      return after.map((source, index) =>
        Object.assign(source, { work: workSince(source.work, before[index]?.work) }),
      );
    },

    /**
     * Collects from now on, at the pace of the quotas.
     *
     * @returns What ends it.
     */
    start(onFailure: (error: unknown) => void): () => Promise<void> {
      const ends = sourceTurns.map((turns) => runLoop(turns, now, onFailure, lookEveryMs));
      return async () => void (await Promise.all(ends.map((end) => end())));
    },
  };
}

function workSince(after: SourceStatus["work"], before = after): SourceStatus["work"] {
  return {
    source: after.source,
    requests: after.requests - before.requests,
    observed: after.observed - before.observed,
    failed: after.failed - before.failed,
    observations: after.observations - before.observations,
  };
}
