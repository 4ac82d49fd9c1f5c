/**
 * The turns of a source: each asks it for what is due, one after another, and goes on where the one
 * before was, after a stop of any length.
 */
import { DomainError } from "../../core/errors.ts";
import type { Collector } from "./port.ts";
import { createRunner, type RunnerParts } from "./runner.ts";

/** What turns are taken with. */
export interface TurnsParts extends RunnerParts {
  readonly collector: Collector;
}

/** Takes turns. */
export type Turns = ReturnType<typeof createTurns>;

/** Makes what takes turns. */
export function createTurns({ collector, ...parts }: TurnsParts) {
  const { state, now } = parts;
  const ending = new AbortController();
  const runner = createRunner(parts, collector, ending.signal);
  let last: Promise<unknown> = Promise.resolve();

  async function takeTurn(isPaced: boolean): Promise<void> {
    await state.followLists(now());
    await runner.takeTurn(isPaced);
    if (!isPaced && ending.signal.aborted) {
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
      const next = last.then(() => takeTurn(isPaced));
      last = next.catch(() => undefined);
      return next;
    },

    /** When there is something to do again; `undefined` while there is nothing. */
    wakeAt: runner.nextDue,

    /** How the source is doing. */
    status: runner.status,

    /** Ends the errand that is under way, and begins no further one. */
    end(): void {
      ending.abort();
    },
  };
}
