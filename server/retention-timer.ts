/** Applies retention by itself while a service runs: some minutes after its start, then daily. */
import { DAY_MS, MINUTE_MS } from "../core/time.ts";
import type { RetentionReport } from "../core/retention.ts";

/** How retention is applied while a service runs. */
export interface RetentionTimerOptions {
  /** Walks through all observations, step by step as it is asked. */
  apply(): AsyncGenerator<number, RetentionReport>;
  /** Told of a walk that came to its end. */
  onApplied(report: RetentionReport): void;
  /** Told of a walk that failed, or did not do what it should; the next one comes all the same. */
  onFailure(error: unknown): void;
  readonly firstAfterMs?: number;
}

/** When the first walk begins: not while a service has to get going. */
const FIRST_AFTER_MS = 5 * MINUTE_MS;

/**
 * Applies retention again and again, a day after the walk before ended.
 *
 * @returns What ends it, once the step that is under way is done.
 */
export function runRetention({
  apply,
  onApplied,
  onFailure,
  firstAfterMs = FIRST_AFTER_MS,
}: RetentionTimerOptions): () => Promise<void> {
  let isEnded = false;
  let current = Promise.resolve();
  let timer = setTimeout(begin, firstAfterMs);

  function begin(): void {
    current = walk();
  }

  async function walk(): Promise<void> {
    try {
      const report = await finish(apply(), () => isEnded);
      if (report === undefined) return;
      for (const { kind, problem } of report.faults) {
        onFailure(new Error(`Retention of ${kind}: ${problem}`));
      }
      onApplied(report);
    } catch (error) {
      onFailure(error);
    }
    if (!isEnded) timer = setTimeout(begin, DAY_MS);
  }

  return async () => {
    isEnded = true;
    clearTimeout(timer);
    await current;
  };
}

/** Walks to the end; `undefined` where it is ended before. */
async function finish(
  steps: AsyncGenerator<number, RetentionReport>,
  isEnded: () => boolean,
): Promise<RetentionReport | undefined> {
  for (;;) {
    const { done, value } = await steps.next();
    if (done === true) return value;
    if (isEnded()) return undefined;
  }
}
