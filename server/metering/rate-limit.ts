/** Rate limits: a token bucket for each key, in the memory of this process. */
import { takeToken, type TokenBucket } from "../../core/token-bucket.ts";
import { MINUTE_MS } from "../../core/time.ts";
import type { CheckRateLimit } from "../ports/admission.ts";

/**
 * Makes the limit of requests a minute for each key.
 *
 * It keeps the buckets of the keys that were seen in the present window of a minute or in the one
 * before. A bucket that was not used for a minute is full, so dropping it changes no decision. A
 * window's buckets are dropped all at once: no request walks them.
 *
 * @param now The clock, in milliseconds.
 * @returns Counts a request of a key.
 */
export function createRateLimiter(perMinute: number, now: () => number): CheckRateLimit {
  let windowStart = now();
  let current = new Map<number, TokenBucket>();
  let previous = new Map<number, TokenBucket>();
  const policy = `"minute";q=${perMinute};w=60`;
  return (key) => {
    const instant = now();
    // Where the clock went back, the window begins anew, and keeps its buckets.
    windowStart = Math.min(windowStart, instant);
    if (instant - windowStart >= MINUTE_MS) {
      previous = current;
      current = new Map();
      windowStart = instant;
    }
    const result = takeToken(current.get(key) ?? previous.get(key), perMinute, instant);
    current.set(key, result.bucket);
    return {
      isAdmitted: result.isAdmitted,
      retryAfterS: result.retryAfterS,
      headers: {
        ratelimit: `"minute";r=${result.remaining};t=${result.fullAfterS}`,
        "ratelimit-policy": policy,
      },
    };
  };
}
