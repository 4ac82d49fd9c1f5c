/** Applies retention while a service runs: some minutes after the start, then daily. */
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import type { RetentionReport, RetentionRun } from "../ports/retention.ts";

/** The options of {@link startRetentionTimer}. */
export interface RetentionTimerOptions {
  /** Starts a run. */
  apply(): RetentionRun;
  /** Receives the report of a run that finished. */
  onApplied(report: RetentionReport): void;
  /** Receives the error of a run, or a fault in its report; the next run takes place all the same. */
  onFailure(error: unknown): void;
  /** When the first run starts; 5 minutes by default. */
  readonly initialDelayMs?: number;
}

/** Not right after the start, when a service is busy. */
const INITIAL_DELAY_MS = 5 * MINUTE_MS;

/**
 * Starts the timer. A run starts a day after the end of the one before.
 *
 * @returns Stops the timer, and resolves once the current step is done.
 */
export function startRetentionTimer({
  apply,
  onApplied,
  onFailure,
  initialDelayMs = INITIAL_DELAY_MS,
}: RetentionTimerOptions): () => Promise<void> {
  let isStopped = false;
  let currentRun = Promise.resolve();
  let timer = setTimeout(startRun, initialDelayMs);

  function startRun(): void {
    currentRun = run();
  }

  async function run(): Promise<void> {
    try {
      const steps = apply();
      let step = await steps.next();
      while (step.done !== true) {
        if (isStopped) return;
        step = await steps.next();
      }
      for (const { kind, problem } of step.value.faults) {
        onFailure(new Error(`Retention of ${kind}: ${problem}`));
      }
      onApplied(step.value);
    } catch (error) {
      onFailure(error);
    }
    if (!isStopped) timer = setTimeout(startRun, DAY_MS);
  }

  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await currentRun;
  };
}
