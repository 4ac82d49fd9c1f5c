/**
 * The health of a source: whether it is stopped or failing, and the circuit breaker, which pauses a
 * bucket for longer and longer while all requests fail.
 */
import type { FailingSource, StoppedSource } from "../ports/targets.ts";
import { HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { CollectionState, SourceEvent } from "../ports/collection.ts";
import type { Collector, SourceError } from "./collector.ts";
import { readPauseEnd, type SourceRateLimiter } from "./rate-limiter.ts";

/** Failures in a row before a bucket is paused. */
const FAILURE_THRESHOLD = 3;
const FIRST_PAUSE_MS = MINUTE_MS;
const PAUSE_MAX_MS = HOUR_MS;

/** Options of the health of a source. */
export interface SourceHealthOptions {
  readonly collector: Collector;
  readonly rateLimiter: SourceRateLimiter;
  readonly state: CollectionState;
  now(): number;
  report(event: SourceEvent): void;
}

/** The health of one source. */
export type SourceHealth = ReturnType<typeof createSourceHealth>;

/** Creates the health of a source. The database keeps a stop; all else lives in this process. */
export function createSourceHealth(options: SourceHealthOptions) {
  const { collector, rateLimiter, state, now, report } = options;
  const { source } = collector;
  const settingsHash = hashSettings(collector);
  const breaker = createCircuitBreaker();
  let isStopped = false;
  let failing: (FailingSource & { readonly targets: number }) | undefined;

  /** Reports a failure. The source has been failing since the first one after a success. */
  function recordFailure(reason: string, targets: number): void {
    const { since = now(), targets: previousTargets = 0 } = failing ?? {};
    failing = { reason, since, targets: previousTargets + targets };
  }

  async function stop(reason: string, until: number | null): Promise<void> {
    isStopped = true;
    failing = undefined;
    await state.saveStop(source, settingsHash, { reason, since: now(), until });
    report({ kind: "stopped", source, reason, until });
  }

  return {
    /** Whether the source has stopped since the last {@link resume}. */
    isStopped: () => isStopped,

    /** Clears a stop whose time has come. @returns Whether the source may be polled. */
    async resume(): Promise<boolean> {
      const stopped = await state.readStop(source, settingsHash);
      if (stopped !== undefined) {
        const { since, until } = stopped;
        if (until === null) return false;
        if (readPauseEnd({ from: since, until }, now()) !== undefined) return false;
        await state.clearStop(source);
        report({ kind: "resumed", source });
      }
      isStopped = false;
      return true;
    },

    /** Records a task in which the source answered. */
    recordSuccess(): void {
      failing = undefined;
      breaker.reset();
    },

    /** Records a task of several targets that all failed: the source must have changed. */
    recordAllFailed(warning: string, targets: number): void {
      const reason = `None of ${targets} could be observed: ${warning}`;
      report({ kind: "failed", source, reason });
      recordFailure(reason, targets);
      breaker.reset();
    },

    /**
     * Records an error that ended a task.
     *
     * @param task Its bucket, how many targets it had, and whether none of several was observed.
     * @returns Whether the task may run again for other targets.
     */
    async recordError(
      { kind, message: reason, until, bucket }: SourceError,
      task: { readonly bucket: string; readonly targets: number; readonly isNoneObserved: boolean },
    ): Promise<boolean> {
      if (kind === "rate-limited") return bucket !== task.bucket;
      if (kind === "stop") {
        await stop(reason, until ?? null);
        return false;
      }
      if (kind === "failed" || task.isNoneObserved) recordFailure(reason, task.targets);
      report({ kind: "failed", source, reason });
      // The source answers: one rejected request says nothing about the others.
      if (kind !== "failed") return true;
      const pauseMs = breaker.recordFailure(task.bucket);
      if (pauseMs > 0) rateLimiter.pause(task.bucket, now() + pauseMs);
      return pauseMs === 0;
    },

    /** Returns why the source is stopped or failing. A failure of one target may be its own. */
    async read(): Promise<{
      readonly stopped: StoppedSource | undefined;
      readonly failing: FailingSource | undefined;
    }> {
      const stopped = await state.readStop(source, settingsHash);
      return { stopped, failing: failing?.targets === 1 ? undefined : failing };
    },
  };
}

/** Hashes the settings of a source: a stop holds until its time, or until they change. */
function hashSettings({ baseUrl, credentials }: Collector): string {
  const settings = JSON.stringify([baseUrl, credentials]);
  return new Bun.CryptoHasher("sha256").update(settings).digest("hex");
}

/**
 * Creates the circuit breaker of a source. After each pause the source may fail as often as before
 * the first: otherwise a few bad targets in a row would block all others for an hour.
 */
function createCircuitBreaker() {
  let failures = 0;
  const pauses = new Map<string, { readonly count: number; readonly failures: number }>();
  return {
    /** @returns For how many milliseconds to pause the bucket. */
    recordFailure(bucket: string): number {
      failures++;
      const last = pauses.get(bucket) ?? { count: 0, failures: 0 };
      if (failures - last.failures < FAILURE_THRESHOLD) return 0;
      pauses.set(bucket, { count: last.count + 1, failures });
      return Math.min(FIRST_PAUSE_MS * 2 ** last.count, PAUSE_MAX_MS);
    },

    reset(): void {
      failures = 0;
      pauses.clear();
    },
  };
}
