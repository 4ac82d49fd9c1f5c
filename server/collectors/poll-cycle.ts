/**
 * The turns of a source: each asks it for what is due, one after another, and goes on where the one
 * before was, after a stop of any length.
 */
import { DomainError } from "../../core/errors.ts";
import type { Collector } from "./collector.ts";
import { createSourceRunner, type RunnerOptions } from "./source-runner.ts";

/** What turns are taken with. */
export interface PollCycleOptions extends RunnerOptions {
  readonly collector: Collector;
}

/** Takes turns. */
export type PollCycle = ReturnType<typeof createPollCycle>;

/** Makes what takes turns. */
export function createPollCycle({ collector, ...options }: PollCycleOptions) {
  const { state, now } = options;
  const abortController = new AbortController();
  const runner = createSourceRunner(options, collector, abortController.signal);
  let previousCycle: Promise<unknown> = Promise.resolve();

  async function runCycle(isPaced: boolean): Promise<void> {
    await state.syncTargets(now());
    await runner.runCycle(isPaced);
    if (!isPaced && abortController.signal.aborted) {
      throw new DomainError("Service Unavailable", "Collecting was ended before it was done");
    }
  }

  return {
    /**
     * Collects what is due, for one turn. Who asks meanwhile waits for the turn before.
     *
     * @param isPaced Whether it leaves what the pace does not allow now for later; else the turn
     * is as long as there is something due.
     */
    collect(isPaced = true): Promise<void> {
      const cycle = previousCycle.then(() => runCycle(isPaced));
      previousCycle = cycle.catch(() => undefined);
      return cycle;
    },

    /** When there is something to do again; `undefined` while there is nothing. */
    readNextDue: runner.readNextDue,

    /** How the source is doing. */
    status: runner.status,

    /** Ends the errand that is under way, and begins no further one. */
    stop(): void {
      abortController.abort();
    },
  };
}
