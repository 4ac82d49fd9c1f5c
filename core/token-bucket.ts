/**
 * The rate limit as a token bucket, and the values of its response headers. A bucket holds a
 * minute's requests and refills evenly. It stores what was taken as whole milliseconds, a minute
 * for each request, and since when it refills.
 */
import { assertWholeNumber } from "./errors.ts";
import { MINUTE_MS } from "./time.ts";

/** The state of a bucket. A bucket that was never used is full. */
export interface TokenBucket {
  /** Milliseconds that requests took, a minute each. Each millisecond gives `perMinute` back. */
  readonly takenMs: number;
  /** The instant from which the bucket refills, in milliseconds since 1970 UTC. */
  readonly at: number;
}

/** Whether a request is admitted, and the values of the rate limit headers of its response. */
export interface RateLimitResult {
  /** Whether there was a token. */
  readonly isAdmitted: boolean;
  /** The bucket after the request. */
  readonly bucket: TokenBucket;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until the next token, rounded up; 0 if there is one. */
  readonly retryAfterS: number;
  /** Seconds until the bucket is full, rounded up. */
  readonly fullAfterS: number;
}

/**
 * Takes a token, if there is one.
 *
 * @param bucket The state after the last request; `undefined` for the first.
 * @param perMinute Requests a minute, 1 or more.
 * @param now Whole milliseconds since 1970 UTC. Set back, it stops refills for a minute at most.
 * @throws {RangeError} If `perMinute` is no whole number from 1.
 *
 * @example
 * takeRateLimitToken(undefined, 60, 0).remaining; // 59
 * takeRateLimitToken({ takenMs: 3_600_000, at: 0 }, 60, 500).retryAfterS; // 1
 */
export function takeRateLimitToken(
  bucket: TokenBucket | undefined,
  perMinute: number,
  now: number,
): RateLimitResult {
  assertWholeNumber("perMinute", perMinute, 1);
  const capacityMs = perMinute * MINUTE_MS;
  const previous = bucket ?? { takenMs: 0, at: now };
  // After a minute the bucket is full.
  const elapsedMs = Math.min(MINUTE_MS, Math.max(0, now - previous.at));
  // The limit may have been higher before: no bucket is more than empty.
  const previousMs = Math.min(previous.takenMs, capacityMs);
  const leftMs = Math.max(0, previousMs - elapsedMs * perMinute);
  const isAdmitted = leftMs + MINUTE_MS <= capacityMs;
  const takenMs = isAdmitted ? leftMs + MINUTE_MS : leftMs;
  // Later than `now` if the clock went back: nothing refills before it.
  const at = Math.max(now, Math.min(previous.at, now + MINUTE_MS));
  const secondsUntil = (wantedMs: number) =>
    takenMs <= wantedMs
      ? 0
      : Math.ceil(((at - now) * perMinute + takenMs - wantedMs) / (perMinute * 1000));
  return {
    isAdmitted,
    bucket: { takenMs, at },
    remaining: Math.floor((capacityMs - takenMs) / MINUTE_MS),
    retryAfterS: secondsUntil(capacityMs - MINUTE_MS),
    fullAfterS: secondsUntil(0),
  };
}
