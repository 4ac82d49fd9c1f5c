/**
 * The loop: asks every source for what is due, turn after turn, and goes on where it was after a
 * stop of any length.
 */
import type { Collector } from "./port.ts";
import { createRunner, type RunnerParts, type SourceStatus } from "./runner.ts";

/** What the loop works with. */
export interface LoopParts extends RunnerParts {
  readonly collectors: readonly Collector[];
}

/** Collects. */
export type Loop = ReturnType<typeof createLoop>;

/** Makes the loop. */
export function createLoop(parts: LoopParts) {
  const { state, now } = parts;
  const ending = new AbortController();
  const runners = parts.collectors.map((collector) =>
    createRunner(parts, collector, ending.signal),
  );
  let last: Promise<unknown> = Promise.resolve();

  async function takeTurn(isPaced: boolean): Promise<void> {
    await state.followLists(now());
    // A turn is over when all of it is, also where a source fails: the next would run beside it.
    const turns = await Promise.allSettled(runners.map((runner) => runner.takeTurn(isPaced)));
    for (const turn of turns) if (turn.status === "rejected") throw turn.reason;
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
    async wakeAt(): Promise<number | undefined> {
      const instants = await Promise.all(runners.map((runner) => runner.nextDue()));
      const due = instants.filter((instant) => instant !== undefined);
      return due.length === 0 ? undefined : Math.min(...due);
    },

    /** How the sources are doing. */
    status: (): Promise<SourceStatus[]> => Promise.all(runners.map((runner) => runner.status())),

    /** Ends the errand that is under way, and begins no further one. */
    end(): void {
      ending.abort();
    },
  };
}
