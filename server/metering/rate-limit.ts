/**
 * Limits per API key or administrator's session, in the memory of this process: requests in a minute,
 * and reads in a minute that are charged but whose clients leave before the response.
 */
import { MINUTE_MS } from "../../core/time.ts";
import {
  takeRateLimitToken,
  type RateLimitResult,
  type TokenBucket,
} from "../../core/token-bucket.ts";

/** An API key, by its number, or an administrator's session, by its hash. */
type LimitedKey = number | string;

/** Creates a function that counts a request of an API key, and decides whether it is admitted. */
export function createRateLimiter(perMinute: number, now: () => number) {
  const buckets = createTokenBuckets(perMinute, now);
  return (key: LimitedKey) => {
    const { isAdmitted, retryAfterS, remaining, fullAfterS } = buckets.take(key);
    return {
      isAdmitted,
      /** Whole seconds until the next request is admitted. */
      retryAfterS,
      headers: {
        ratelimit: `"minute";r=${remaining};t=${fullAfterS}`,
        "ratelimit-policy": `"minute";q=${perMinute};w=60`,
      },
    };
  };
}

/**
 * Reads of an API key that may end in a minute without a response, because its clients closed their
 * connections after the debit: 1 % of the reads of a key with 5,000 reads a second.
 */
const ABORTED_READS_PER_MINUTE = 3000;

/**
 * Creates the limiter of the charged reads of a key that end without a response to their client.
 */
export function createAbortLimiter(now: () => number) {
  const buckets = createTokenBuckets(ABORTED_READS_PER_MINUTE, now);
  /** Keys whose last abort emptied their buckets: only these buckets are looked at. */
  const emptied = new Set<LimitedKey>();
  return {
    maxPerMinute: ABORTED_READS_PER_MINUTE,
    countAbort(key: number): void {
      if (buckets.take(key).remaining === 0) emptied.add(key);
    },
    /** Whole seconds until the next request is admitted; 0 if it is now. */
    getRetryAfterS(key: LimitedKey): number {
      if (!emptied.has(key)) return 0;
      const result = buckets.peek(key);
      if (result !== undefined && !result.isAdmitted) return result.retryAfterS;
      emptied.delete(key);
      return 0;
    },
  };
}

/**
 * Creates a token bucket for each key, and keeps those that were used in this minute or the one
 * before. A bucket that was not used for a minute is full, so dropping it changes no decision. All
 * buckets of a minute are dropped together, so that no request has to search for old ones.
 */
function createTokenBuckets(perMinute: number, now: () => number) {
  let windowStart = now();
  let current = new Map<LimitedKey, TokenBucket>();
  let previous = new Map<LimitedKey, TokenBucket>();
  const findBucket = (key: LimitedKey) => current.get(key) ?? previous.get(key);
  return {
    take(key: LimitedKey): RateLimitResult {
      const instant = now();
      // When the clock was set back, the window starts again and keeps its buckets.
      windowStart = Math.min(windowStart, instant);
      if (instant - windowStart >= MINUTE_MS) {
        previous = current;
        current = new Map();
        windowStart = instant;
      }
      const result = takeRateLimitToken(findBucket(key), perMinute, instant);
      current.set(key, result.bucket);
      return result;
    },

    /** Returns the result that `take()` would return; `undefined` for a bucket that is full. */
    peek(key: LimitedKey): RateLimitResult | undefined {
      const bucket = findBucket(key);
      return bucket && takeRateLimitToken(bucket, perMinute, now());
    },
  };
}
