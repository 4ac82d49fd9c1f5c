/** The health of a source: stopped or failing, and the circuit breaker that pauses its buckets. */
import { HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { CollectionState } from "../store/collection/collection-state.ts";
import type { Collector } from "./collector.ts";
import { readPauseEnd, type createSourceRateLimiter } from "./rate-limiter.ts";
import type { runTask } from "./task.ts";

/** A change of a source. The reasons never hold a credential. */
export type SourceEvent = { readonly source: string } &
  /** If `until` is `null`, the stop lasts until the settings change. */
  (
    | { readonly kind: "stopped"; readonly reason: string; readonly until: number | null }
    | { readonly kind: "paused" | "failed" | "retried"; readonly reason: string }
    | { readonly kind: "resumed" }
  );

export interface SourceStatus {
  readonly source: string;
  /** Since the process started. `observed` and `failed` count targets. */
  readonly work: Readonly<Record<"requests" | "observations" | "observed" | "failed", number>>;
  /** `undefined` while the source is polled. */
  readonly stopped: Awaited<ReturnType<CollectionState["readStop"]>>;
  /** The first failure after the last success; `undefined` while the source answers. */
  readonly failing: { readonly reason: string; readonly since: number } | undefined;
  /** Since the process started. */
  readonly lastFailure: { readonly reason: string; readonly at: number } | undefined;
  /** `used` and `limit` are units of the quota day. */
  readonly buckets: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
    readonly pausedUntil: number | undefined;
  }[];
}

const FAILURE_THRESHOLD = 3;
const FIRST_PAUSE_MS = MINUTE_MS;
const PAUSE_MAX_MS = HOUR_MS;

/** Creates the health of a source. The database keeps a stop; all else lives in this process. */
export function createSourceHealth(options: {
  readonly collector: Collector;
  readonly rateLimiter: ReturnType<typeof createSourceRateLimiter>;
  readonly state: CollectionState;
  now(): number;
  report(event: SourceEvent): void;
}) {
  const { collector, rateLimiter, state, now, report } = options;
  const source = collector.source.name;
  // A stop holds until its time, or until the settings change.
  const settings = JSON.stringify([collector.baseUrl, collector.credentials]);
  const settingsHash = new Bun.CryptoHasher("sha256").update(settings).digest("hex");
  let isStopped = false;
  let failing: (NonNullable<SourceStatus["failing"]> & { readonly targets: number }) | undefined;
  let lastFailure: SourceStatus["lastFailure"];
  const breaker = createCircuitBreaker(rateLimiter.pause, now);

  function recordFailure(reason: string, failedTargets: number): void {
    lastFailure = { reason, at: now() };
    report({ kind: "failed", source, reason });
    if (failedTargets === 0) return;
    const { since = now(), targets = 0 } = failing ?? {};
    failing = { reason, since, targets: targets + failedTargets };
  }

  return {
    isStopped: () => isStopped,

    /** Clears a stop that has ended. @returns Whether the source may be polled. */
    async resume(): Promise<boolean> {
      const stopped = await state.readStop(source, settingsHash);
      if (stopped !== undefined) {
        const { since: from, until } = stopped;
        if (until === null || readPauseEnd({ from, until }, now()) !== undefined) return false;
        await state.clearStop(source);
        report({ kind: "resumed", source });
      }
      isStopped = false;
      return true;
    },

    /** Records a task that polled some targets. @returns Whether the task may go on. */
    async recordTask(
      bucket: string,
      targets: number,
      { observed, sourceError, warning }: Awaited<ReturnType<typeof runTask>>,
    ): Promise<boolean> {
      // If all of several targets fail, the source must have changed.
      const isNoneObserved = targets > 1 && observed === 0;
      if (sourceError === undefined) {
        breaker.reset();
        if (warning === undefined || !isNoneObserved) failing = undefined;
        else recordFailure(`None of ${targets} could be observed: ${warning}`, targets);
        return true;
      }
      const { kind, message: reason, until = null } = sourceError;
      if (kind === "rate-limited") return sourceError.bucket !== bucket;
      if (kind === "stop") {
        lastFailure = { reason, at: now() };
        isStopped = true;
        failing = undefined;
        await state.saveStop(source, settingsHash, { reason, since: now(), until });
        report({ kind: "stopped", source, reason, until });
        return false;
      }
      recordFailure(reason, kind === "failed" || isNoneObserved ? targets : 0);
      // Unless the kind is `failed`, the source answers: one rejected request proves nothing.
      return kind !== "failed" || !breaker.recordFailure(bucket);
    },

    /** Leaves out the failure of a single target: the target may be the cause. */
    async read(): Promise<Pick<SourceStatus, "stopped" | "failing" | "lastFailure">> {
      const stopped = await state.readStop(source, settingsHash);
      return { stopped, failing: failing?.targets === 1 ? undefined : failing, lastFailure };
    },
  };
}

/**
 * Creates the circuit breaker of a source. After each pause the source may fail as often as before
 * the first pause: otherwise a few bad targets in a row would block all others for an hour.
 */
function createCircuitBreaker(pause: (bucket: string, until: number) => void, now: () => number) {
  let failures = 0;
  const pauses = new Map<string, { readonly count: number; readonly failures: number }>();
  return {
    recordFailure(bucket: string): boolean {
      failures++;
      const last = pauses.get(bucket) ?? { count: 0, failures: 0 };
      if (failures - last.failures < FAILURE_THRESHOLD) return false;
      pauses.set(bucket, { count: last.count + 1, failures });
      pause(bucket, now() + Math.min(FIRST_PAUSE_MS * 2 ** last.count, PAUSE_MAX_MS));
      return true;
    },

    reset(): void {
      failures = 0;
      pauses.clear();
    },
  };
}
