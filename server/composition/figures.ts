/** Computes the figures of lists in the background, soon after observations change. */
import { DomainError } from "../../core/errors.ts";
import { startLoop } from "../background-loop.ts";
import type { ServiceLogger } from "../log.ts";
import type { Database } from "../store/database/database.ts";
import { refreshFiguresInBackground } from "../store/figures/refresh.ts";

/** Tells that this process changes observations. */
export type ChangeSignal = ReturnType<typeof createChangeSignal>;

export function createChangeSignal() {
  let next = Promise.withResolvers<void>();
  return {
    notify(): void {
      next.resolve();
      next = Promise.withResolvers<void>();
    },
    /** Resolves at the next call of `notify()`. */
    waitForNext: (): Promise<void> => next.promise,
  };
}

/** The delay after a change. On a server, the time between two looks for stale figures. */
const INTERVAL_MS = 1000;

/** So that reads have most of the processor while figures are computed. */
const PAUSE_RATIO = 3;

/**
 * How long figures wait at most for the end of an import, which makes them stale again. Computed
 * during an import, they double the p99 of response times.
 */
const DELAY_MAX_MS = 30_000;

/**
 * Starts the computing of stale figures.
 *
 * @param source `isImporting()` says whether an import runs. `changes` tells of changes; without
 *   it, because other processes change observations too, it looks for stale figures at intervals.
 * @returns Stops it, and resolves once the current step is done.
 */
export function startFigures(
  database: Database,
  {
    isImporting,
    changes,
  }: { readonly isImporting: () => boolean; readonly changes?: ChangeSignal | undefined },
  log: ServiceLogger,
  { intervalMs = INTERVAL_MS, delayMaxMs = DELAY_MAX_MS } = {},
): () => Promise<void> {
  /** When figures were last current. */
  let currentAt = performance.now();
  const shouldWait = () => isImporting() && performance.now() - currentAt < delayMaxMs;

  async function refresh(signal: AbortSignal): Promise<void> {
    if (shouldWait()) return;
    // Taken before the run, which may miss a change.
    const nextChange = changes?.waitForNext();
    const computed = await refreshFiguresInBackground(database, {
      pauseRatio: PAUSE_RATIO,
      shouldStop: () => signal.aborted || shouldWait(),
    });
    if (computed === undefined) return;
    // A run that computed figures can have made others stale.
    if (computed === 0 && !isImporting() && !signal.aborted) await nextChange;
    currentAt = performance.now();
  }

  const stop = startLoop({
    intervalMs,
    run: refresh,
    onFailure(error) {
      // Outages of the database are logged once.
      if (error instanceof DomainError && error.code === "Service Unavailable") return;
      log.backgroundFailure?.(error, "Computing figures");
    },
  });
  return async () => {
    const stopped = stop();
    changes?.notify();
    await stopped;
  };
}
