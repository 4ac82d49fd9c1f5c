/**
 * Limits how fast a source is polled: its pauses, its rate limit windows, and a pace that spreads
 * the quota over the day. All of it lives in this process; the used quota is in the database.
 */
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { QUOTA_RESERVE_RATIO } from "./poll-schedule.ts";
import type { Collector } from "./collector.ts";
import { getBucket } from "./quota-budget.ts";

/** The burst is the number of requests that the pace allows in this time, or the minimum. */
const BURST_WINDOW_MS = 10 * MINUTE_MS;
const BURST_MIN_UNITS = 20;

/** A span of time in which something is not requested, in milliseconds since 1970 UTC. */
export interface Pause {
  readonly from: number;
  readonly until: number;
}

/**
 * Returns the end of a pause; `undefined` if it is over. A pause that begins in the future comes
 * from a clock that was ahead and was set right: it does not count.
 */
export function readPauseEnd(pause: Pause | undefined, now: number): number | undefined {
  return pause !== undefined && pause.from <= now && now < pause.until ? pause.until : undefined;
}

/** The pace that makes a quota last the day. */
interface PollRate {
  readonly unitsPerMs: number;
  /** Units that can be used at once, after a pause of any length. */
  readonly burst: number;
}

/** Computes the pace of a quota. */
export function computePollRate(unitsPerDay: number): PollRate {
  const unitsPerMs = (unitsPerDay * (1 - QUOTA_RESERVE_RATIO)) / DAY_MS;
  return { unitsPerMs, burst: Math.max(BURST_MIN_UNITS, unitsPerMs * BURST_WINDOW_MS) };
}

/** The units of a quota at an instant. */
interface QuotaTokens {
  readonly tokens: number;
  /** When it held them, in milliseconds since 1970 UTC. */
  at: number;
}

/** Returns the units that can be used now. @param bucket `undefined`: never used, so it is full. */
export function countAvailableTokens(
  bucket: QuotaTokens | undefined,
  rate: PollRate,
  now: number,
): number {
  if (bucket === undefined) return rate.burst;
  const refilled = Math.max(0, now - bucket.at) * rate.unitsPerMs;
  return Math.min(rate.burst, bucket.tokens + refilled);
}

export type SourceRateLimiter = ReturnType<typeof createSourceRateLimiter>;

/**
 * Creates the rate limiter of a source.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createSourceRateLimiter(collector: Collector, now: () => number) {
  const tokenBuckets = new Map<string, QuotaTokens>();
  const windows = new Map<string, { beganAt: number; used: number }>();
  const pauses = new Map<string, Pause>();

  const pollRate = (name: string) => computePollRate(getBucket(collector, name).unitsPerDay);

  /** Returns when the window of a bucket has room: now, or later. */
  function windowReadyAt(name: string): number {
    const { window } = getBucket(collector, name);
    const open = windows.get(name);
    if (window === undefined || open === undefined) return now();
    const isFull = open.used >= window.requests * (1 - QUOTA_RESERVE_RATIO);
    // If the clock went back, the wait must not get longer than the window.
    open.beganAt = Math.min(open.beganAt, now());
    return isFull ? Math.max(now(), open.beganAt + window.durationMs) : now();
  }

  /** If the clock went back, the bucket refills from now on. */
  function readTokens(name: string): QuotaTokens | undefined {
    const tokenBucket = tokenBuckets.get(name);
    if (tokenBucket !== undefined) tokenBucket.at = Math.min(tokenBucket.at, now());
    return tokenBucket;
  }

  function countInWindow(name: string): void {
    const { window } = getBucket(collector, name);
    if (window === undefined) return;
    const open = windows.get(name);
    if (open === undefined || now() >= open.beganAt + window.durationMs) {
      windows.set(name, { beganAt: now(), used: 1 });
    } else open.used++;
  }

  /** Returns the end of a bucket's pause; `undefined` without one. */
  const pausedUntil = (name: string) => readPauseEnd(pauses.get(name), now());

  return {
    /**
     * Returns when a bucket may be used: now, or later.
     *
     * @param isPaced Whether the quota must last the day; pauses and windows always count.
     */
    readyAt(name: string, { isPaced }: { readonly isPaced: boolean }): number {
      const at = now();
      const rate = pollRate(name);
      const tokens = isPaced ? countAvailableTokens(readTokens(name), rate, at) : 1;
      const pacedAt = tokens >= 1 ? at : at + (1 - tokens) / rate.unitsPerMs;
      return Math.max(pacedAt, windowReadyAt(name), pausedUntil(name) ?? 0);
    },

    /**
     * Counts a request. A task that has begun is not cut off: its excess delays the next
     * one. That debt is limited to one burst, because the database counts the quota itself.
     */
    take(name: string): void {
      const at = now();
      const rate = pollRate(name);
      const tokens = countAvailableTokens(readTokens(name), rate, at) - 1;
      tokenBuckets.set(name, { tokens: Math.max(-rate.burst, tokens), at });
      countInWindow(name);
    },

    /** Pauses a bucket. @returns Whether it was not paused before. */
    pause(name: string, until: number): boolean {
      const isNew = pausedUntil(name) === undefined;
      pauses.set(name, { from: now(), until });
      return isNew;
    },

    pausedUntil,
  };
}
