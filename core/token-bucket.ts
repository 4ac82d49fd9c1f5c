/** Rate limit by token bucket: it holds a minute's requests and refills evenly. */
import { assertWholeNumber } from "./errors.ts";
import { MINUTE_MS } from "./time.ts";

/** The state of a bucket. A bucket that was never used is full. */
export interface TokenBucket {
  /** A fraction counts as a token that refills. */
  readonly tokens: number;
  /** When it held them, in milliseconds since 1970 UTC. */
  readonly at: number;
}

/** Whether a request is admitted, and what its response says about the limit. */
export interface RateLimitResult {
  /** Whether there was a token. */
  readonly isAdmitted: boolean;
  /** The bucket after it. */
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
 * @param now Milliseconds since 1970 UTC. If the clock goes back, nothing refills for at most a
 * minute.
 * @throws {RangeError} If `perMinute` is no whole number from 1.
 *
 * @example
 * takeRateLimitToken(undefined, 60, 0).remaining; // 59
 * takeRateLimitToken({ tokens: 0, at: 0 }, 60, 500).retryAfterS; // 1
 */
export function takeRateLimitToken(
  bucket: TokenBucket | undefined,
  perMinute: number,
  now: number,
): RateLimitResult {
  assertWholeNumber("perMinute", perMinute, 1);
  const tokenMs = MINUTE_MS / perMinute;
  const previous = bucket ?? { tokens: perMinute, at: now };
  const refilled = Math.max(0, now - previous.at) / tokenMs;
  const available = Math.min(perMinute, previous.tokens + refilled);
  const isAdmitted = available >= 1;
  const tokens = isAdmitted ? available - 1 : available;
  // Later than `now` if the clock went back: nothing refills before it.
  const at = Math.max(now, Math.min(previous.at, now + MINUTE_MS));
  const secondsUntil = (wanted: number) =>
    tokens >= wanted ? 0 : Math.ceil((at - now + (wanted - tokens) * tokenMs) / 1000);
  return {
    isAdmitted,
    bucket: { tokens, at },
    remaining: Math.floor(tokens),
    retryAfterS: secondsUntil(1),
    fullAfterS: secondsUntil(perMinute),
  };
}
