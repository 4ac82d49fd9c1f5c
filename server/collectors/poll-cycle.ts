/** Polls a source in cycles: one after another, on demand or in a loop. */
import { DomainError } from "../../core/errors.ts";
import { createSourceRunner, type RunnerOptions } from "./source-runner.ts";

/** The poll cycles of a source. */
export type PollCycle = ReturnType<typeof createPollCycle>;

/** Creates the poll cycles of a source. The database keeps what is due, so a cycle can be aborted. */
export function createPollCycle(options: RunnerOptions) {
  const { state, now, collector } = options;
  const abortController = new AbortController();
  const runner = createSourceRunner(options, abortController.signal);
  let previousCycle: Promise<unknown> = Promise.resolve();

  async function runCycle(isPaced: boolean): Promise<void> {
    await state.syncTargets(now());
    await runner.runCycle({ isPaced });
    if (!isPaced && abortController.signal.aborted) {
      throw new DomainError("Service Unavailable", "Collecting was ended before it was done");
    }
  }

  return {
    /**
     * Runs one cycle, after the cycle that is running.
     *
     * @param isPaced Whether the quota must last the day, and the cycle has a time limit; otherwise
     * it runs until nothing is due.
     */
    collect({ isPaced = true }: { readonly isPaced?: boolean } = {}): Promise<void> {
      const cycle = previousCycle.then(() => runCycle(isPaced));
      previousCycle = cycle.catch(() => undefined);
      return cycle;
    },

    /** Returns when a target is due next; `undefined` without targets. */
    readNextDue: () => state.readNextDue(collector.platform),

    /** Returns the status of the source. */
    status: runner.status,

    /** Aborts the task that is running, and begins no other. */
    stop: () => abortController.abort(),
  };
}

/** Bounds of the time between two cycles, in milliseconds. */
const POLL_INTERVAL_MIN_MS = 2000;
const POLL_INTERVAL_MAX_MS = 30_000;

/**
 * Runs cycles until it is stopped.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @param onFailure Called after a cycle that failed; the loop goes on.
 * @returns Stops the loop; resolves when no task is running.
 */
export function startPollLoop(
  pollCycle: PollCycle,
  now: () => number,
  onFailure: (error: unknown) => void,
  maxPollIntervalMs = POLL_INTERVAL_MAX_MS,
): () => Promise<void> {
  let isStopped = false;
  let timer: Timer | undefined;

  async function pollOnce(): Promise<void> {
    let waitMs = maxPollIntervalMs;
    try {
      await pollCycle.collect();
      const dueAt = await pollCycle.readNextDue();
      if (dueAt !== undefined)
        waitMs = Math.min(waitMs, Math.max(POLL_INTERVAL_MIN_MS, dueAt - now()));
    } catch (error) {
      onFailure(error);
    }
    if (isStopped) return;
    timer = setTimeout(() => {
      currentPoll = pollOnce();
    }, waitMs);
  }

  let currentPoll = pollOnce();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    pollCycle.stop();
    await currentPoll;
  };
}
