/** Applies retention by itself while a service runs: some minutes after its start, then daily. */
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import type { RetentionReport, RetentionRun } from "../ports/retention.ts";

/** How retention is applied while a service runs. */
export interface RetentionTimerOptions {
  /** Walks through all observations, step by step as it is asked. */
  apply(): RetentionRun;
  /** Told of a walk that came to its end. */
  onApplied(report: RetentionReport): void;
  /** Told of a walk that failed, or did not do what it should; the next one comes all the same. */
  onFailure(error: unknown): void;
  readonly initialDelayMs?: number;
}

/** When the first walk begins: not while a service has to get going. */
const INITIAL_DELAY_MS = 5 * MINUTE_MS;

/**
 * Applies retention again and again, a day after the walk before ended.
 *
 * @returns What ends it, once the step that is under way is done.
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
      const report = await runToCompletion(apply(), () => isStopped);
      if (report === undefined) return;
      for (const { kind, problem } of report.faults) {
        onFailure(new Error(`Retention of ${kind}: ${problem}`));
      }
      onApplied(report);
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

/** Walks to the end; `undefined` where it is ended before. */
async function runToCompletion(
  steps: RetentionRun,
  isStopped: () => boolean,
): Promise<RetentionReport | undefined> {
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return value;
    if (isStopped()) return undefined;
  }
}
