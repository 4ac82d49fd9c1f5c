/**
 * Limits how fast a source is polled: by its pauses, its rate limit windows, and a pace that
 * spreads the quota over the day. All this is in memory; the used quota is in the database.
 */
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import type { Collector, QuotaBucket } from "./collector.ts";
import { QUOTA_RESERVE_RATIO } from "./poll-schedule.ts";

/** The burst is the number of requests that the pace allows in this time, at least the minimum. */
const BURST_WINDOW_MS = 10 * MINUTE_MS;
const BURST_MIN_UNITS = 20;

type Pause = Readonly<Record<"from" | "until", number>>;

/** Returns the end of a pause; `undefined` if it is over, or began while the clock was ahead. */
export function readPauseEnd(pause: Pause | undefined, now: number): number | undefined {
  return pause !== undefined && pause.from <= now && now < pause.until ? pause.until : undefined;
}

function createBucketUse({ unitsPerDay, window }: QuotaBucket, now: number) {
  const unitsPerMs = (unitsPerDay * (1 - QUOTA_RESERVE_RATIO)) / DAY_MS;
  const burst = Math.max(BURST_MIN_UNITS, unitsPerMs * BURST_WINDOW_MS);
  return {
    /** The pace that makes the quota last the day. */
    unitsPerMs,
    /** Units that can be used at once. */
    burst,
    /** Units that can be used now; below 0 after a burst that was not paced. */
    tokens: burst,
    refilledAt: now,
    window: { requests: Infinity, durationMs: 0, ...window, beganAt: now, used: 0 },
    pause: undefined as Pause | undefined,
  };
}

export function createSourceRateLimiter({ buckets }: Collector, now: () => number) {
  const uses = new Map(
    Object.entries(buckets).map(([name, bucket]) => [name, createBucketUse(bucket, now())]),
  );

  /** Returns the current use of a bucket. If the clock went back, tokens refill from there. */
  function readUse(name: string) {
    const use = uses.get(name);
    if (use === undefined) throw new Error(`There is no bucket ${name}`);
    const at = now();
    const refilled = Math.max(0, at - use.refilledAt) * use.unitsPerMs;
    use.tokens = Math.min(use.burst, use.tokens + refilled);
    use.refilledAt = at;
    use.window.beganAt = Math.min(use.window.beganAt, at);
    return use;
  }

  const pausedUntil = (name: string) => readPauseEnd(readUse(name).pause, now());

  return {
    /** Returns when a bucket may be used. If it is not paced, the quota need not last the day. */
    readyAt(name: string, { isPaced }: { readonly isPaced: boolean }): number {
      const { tokens, unitsPerMs, window } = readUse(name);
      const at = now();
      const pacedAt = isPaced && tokens < 1 ? at + (1 - tokens) / unitsPerMs : at;
      const isFull = window.used >= window.requests * (1 - QUOTA_RESERVE_RATIO);
      const windowEnd = isFull ? window.beganAt + window.durationMs : at;
      return Math.max(at, pacedAt, windowEnd, pausedUntil(name) ?? 0);
    },

    /**
     * Counts a request. A task that has begun is not cut off: its excess delays the next task. The
     * excess is limited to one burst, because the database counts the quota itself.
     */
    take(name: string): void {
      const use = readUse(name);
      use.tokens = Math.max(-use.burst, use.tokens - 1);
      const { window } = use;
      const isOver = window.used === 0 || now() >= window.beganAt + window.durationMs;
      Object.assign(window, isOver ? { beganAt: now(), used: 1 } : { used: window.used + 1 });
    },

    /** @returns Whether the bucket was not paused before. */
    pause(name: string, until: number): boolean {
      const isNew = pausedUntil(name) === undefined;
      readUse(name).pause = { from: now(), until };
      return isNew;
    },

    pausedUntil,
  };
}
