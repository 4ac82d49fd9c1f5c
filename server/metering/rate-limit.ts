/** Limits the requests of each API key, in the memory of this process. */
import { MINUTE_MS } from "../../core/time.ts";
import { takeRateLimitToken, type TokenBucket } from "../../core/token-bucket.ts";
import type { CheckRateLimit } from "../ports/admission.ts";

/**
 * Creates a token bucket for each key.
 *
 * It keeps the buckets that were used in this minute or the one before. A bucket that was not used
 * for a minute is full, so dropping it changes no decision. All buckets of a minute are dropped
 * together, so that no request has to search for old ones.
 *
 * @param perMinute Requests that a key may send in a minute.
 * @param now The clock, in milliseconds.
 */
export function createRateLimiter(perMinute: number, now: () => number): CheckRateLimit {
  let windowStart = now();
  let current = new Map<number, TokenBucket>();
  let previous = new Map<number, TokenBucket>();
  return (key) => {
    const instant = now();
    // When the clock was set back, the window starts again and keeps its buckets.
    windowStart = Math.min(windowStart, instant);
    if (instant - windowStart >= MINUTE_MS) {
      previous = current;
      current = new Map();
      windowStart = instant;
    }
    const result = takeRateLimitToken(current.get(key) ?? previous.get(key), perMinute, instant);
    current.set(key, result.bucket);
    return {
      isAdmitted: result.isAdmitted,
      retryAfterS: result.retryAfterS,
      headers: {
        ratelimit: `"minute";r=${result.remaining};t=${result.fullAfterS}`,
        "ratelimit-policy": `"minute";q=${perMinute};w=60`,
      },
    };
  };
}
