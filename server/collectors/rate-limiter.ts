/**
 * How much a source is asked at a time: its pauses and windows, and the pace that makes a day's
 * quota last the day. All are of this process; what is used of a quota is counted in the state.
 */
import { computePollRate, QUOTA_RESERVE_RATIO, countAvailableTokens } from "./poll-schedule.ts";
import { getBucket } from "./quota-budget.ts";
import type { TokenBucket } from "../../core/token-bucket.ts";
import type { Collector } from "./collector.ts";
import { readPauseEnd, type Pause } from "./circuit-breaker.ts";

/** The pace of one source. */
export type SourceRateLimiter = ReturnType<typeof createSourceRateLimiter>;

/**
 * Makes the pace of a source.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createSourceRateLimiter(collector: Collector, now: () => number) {
  const tokenBuckets = new Map<string, { tokens: number; at: number }>();
  const windows = new Map<string, { beganAt: number; used: number }>();
  const pauses = new Map<string, Pause>();

  const pace = (name: string) => computePollRate(getBucket(collector, name).unitsPerDay);

  /** When the window of a bucket has room: now, or later. */
  function windowReadyAt(name: string): number {
    const { window } = getBucket(collector, name);
    const open = windows.get(name);
    if (window === undefined || open === undefined) return now();
    const isFull = open.used >= window.requests * (1 - QUOTA_RESERVE_RATIO);
    // Where the clock went back, it is waited for as long as the window is, and no longer.
    open.beganAt = Math.min(open.beganAt, now());
    return isFull ? Math.max(now(), open.beganAt + window.ms) : now();
  }

  /** What is left in a pace's bucket; where the clock went back, it is filled from then on. */
  function readTokens(name: string): TokenBucket | undefined {
    const tokenBucket = tokenBuckets.get(name);
    if (tokenBucket !== undefined) tokenBucket.at = Math.min(tokenBucket.at, now());
    return tokenBucket;
  }

  /** Counts a request in the window of a bucket; the first after one begins the next. */
  function countInWindow(name: string): void {
    const { window } = getBucket(collector, name);
    if (window === undefined) return;
    const open = windows.get(name);
    if (open === undefined || now() >= open.beganAt + window.ms) {
      windows.set(name, { beganAt: now(), used: 1 });
    } else open.used++;
  }

  /** Until when a bucket is paused; `undefined` where it is not. */
  const pausedUntil = (name: string) => readPauseEnd(pauses.get(name), now());

  return {
    /**
     * When the bucket may be asked again: now, or later.
     *
     * @param isPaced Whether a day's quota is to last the day; a pause and a window count anyway.
     */
    readyAt(name: string, isPaced: boolean): number {
      const at = now();
      const tokens = isPaced ? countAvailableTokens(readTokens(name), pace(name), at) : 1;
      const pacedAt = tokens >= 1 ? at : at + (1 - tokens) / pace(name).unitsPerMs;
      return Math.max(pacedAt, windowReadyAt(name), pausedUntil(name) ?? 0);
    },

    /**
     * Counts a request. An errand that has begun is not cut off: what it takes more than there is
     * is waited for before the next, up to what may be used at once. More is not owed: the quota
     * itself is counted by the day.
     */
    take(name: string): void {
      const at = now();
      const tokens = countAvailableTokens(readTokens(name), pace(name), at) - 1;
      tokenBuckets.set(name, { tokens: Math.max(-pace(name).burst, tokens), at });
      countInWindow(name);
    },

    /** Asks nothing of a bucket until then. */
    pause(name: string, until: number): void {
      pauses.set(name, { from: now(), until });
    },

    pausedUntil,
  };
}
