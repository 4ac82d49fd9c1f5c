/**
 * The rate limit: a token bucket. A bucket holds the requests of a minute; each request takes one,
 * and they come back evenly.
 */
import { MINUTE_MS } from "./time.ts";

/** A bucket as it was left. A bucket that was never used is full. */
export interface TokenBucket {
  /** Tokens that it held, parts of one included. */
  readonly tokens: number;
  /** When, in milliseconds since 1970 UTC. */
  readonly at: number;
}

/** What a request found. */
export interface TakeTokenResult {
  readonly isAdmitted: boolean;
  /** The bucket after it. */
  readonly bucket: TokenBucket;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Seconds, rounded up, until the next token is there; 0 where one is. */
  readonly retryAfterS: number;
  /** Seconds, rounded up, until the bucket is full. */
  readonly fullAfterS: number;
}

/**
 * Takes a token, if there is one.
 *
 * @param bucket As the request before left it; `undefined` for the first.
 * @param perMinute Requests a minute, 1 or more.
 * @param now Milliseconds since 1970 UTC. A clock that goes back brings no tokens, for a minute at
 * most.
 *
 * @example
 * takeToken(undefined, 60, 0).remaining; // 59
 * takeToken({ tokens: 0, at: 0 }, 60, 500).retryAfterS; // 1
 */
export function takeToken(
  bucket: TokenBucket | undefined,
  perMinute: number,
  now: number,
): TakeTokenResult {
  const tokenMs = MINUTE_MS / perMinute;
  const previous = bucket ?? { tokens: perMinute, at: now };
  const refilled = Math.max(0, now - previous.at) / tokenMs;
  const available = Math.min(perMinute, previous.tokens + refilled);
  const isAdmitted = available >= 1;
  const tokens = isAdmitted ? available - 1 : available;
  const at = Math.max(now, Math.min(previous.at, now + MINUTE_MS));
  // Nothing comes back before that instant, where the clock went back.
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
