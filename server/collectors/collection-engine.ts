/** Starts the collectors of the configured sources. */
import { createPollCycle } from "./poll-cycle.ts";
import type { SourceStatus } from "./source-health.ts";
import type { SelectedSources } from "./sources.ts";

export async function createCollectionEngine({
  selectedSources,
  maxPollIntervalMs,
  ...options
}: Omit<Parameters<typeof createPollCycle>[0], "collector"> & {
  readonly selectedSources: SelectedSources;
  /** The longest wait between two poll cycles, in milliseconds; 30 seconds by default. */
  readonly maxPollIntervalMs?: number;
}) {
  const connected = Object.values(selectedSources).flatMap(({ source, connection }) =>
    connection === undefined ? [] : [{ source, connection }],
  );
  // Each source has cycles of its own: a slow source delays no other.
  const pollCycles = await Promise.all(
    connected.map(async ({ source, connection }) => {
      const createCollector = await source.loadCollector();
      return createPollCycle({ ...options, collector: createCollector(connection) });
    }),
  );
  const sources = () => Promise.all(pollCycles.map((pollCycle) => pollCycle.status()));
  return {
    /** Returns the status of each source. */
    sources,

    /** Polls all that is due now. @returns The status of each source, with the work of this call. */
    async collect(): Promise<SourceStatus[]> {
      const before = await sources();
      const cycles = pollCycles.map((pollCycle) => pollCycle.collect({ isPaced: false }));
      for (const result of await Promise.allSettled(cycles)) {
        if (result.status === "rejected") throw result.reason;
      }
      const after = await sources();
      return after.map((status, index) =>
        Object.assign(status, { work: subtractWork(status.work, before[index]?.work) }),
      );
    },

    /** Polls at the pace of the quotas. @returns Stops polling. */
    start(onFailure: (error: unknown) => void): () => Promise<void> {
      const stops = pollCycles.map((pollCycle) => pollCycle.start(onFailure, maxPollIntervalMs));
      return async () => void (await Promise.all(stops.map((stop) => stop())));
    },
  };
}

function subtractWork(after: SourceStatus["work"], before = after): SourceStatus["work"] {
  return {
    requests: after.requests - before.requests,
    observed: after.observed - before.observed,
    failed: after.failed - before.failed,
    observations: after.observations - before.observations,
  };
}
