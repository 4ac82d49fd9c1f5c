/** Rate limits: a bucket for each key, in this process alone. */
import { takeToken, type Bucket } from "../../core/rate.ts";
import { MINUTE_MS } from "../../core/time.ts";

/** Whether a request of a key may go on, and what it is told of its limit. */
export interface Admission {
  readonly isAdmitted: boolean;
  readonly retryAfterS: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Buckets that are remembered; a key that was not seen for a minute has a full one anyway. */
const BUCKETS_MAX = 10_000;

/**
 * Makes the limit of requests a minute for each key.
 *
 * @param now The clock, in milliseconds.
 * @returns Counts a request of a key.
 */
export function createRateLimit(perMinute: number, now: () => number) {
  const buckets = new Map<number, Bucket>();
  const policy = `"minute";q=${perMinute};w=60`;
  return (key: number): Admission => {
    const at = now();
    if (buckets.size >= BUCKETS_MAX) forgetFull(buckets, at);
    const taken = takeToken(buckets.get(key), perMinute, at);
    buckets.set(key, taken.bucket);
    return {
      isAdmitted: taken.isAdmitted,
      retryAfterS: taken.retryAfterS,
      headers: {
        ratelimit: `"minute";r=${taken.remaining};t=${taken.fullAfterS}`,
        "ratelimit-policy": policy,
      },
    };
  };
}

function forgetFull(buckets: Map<number, Bucket>, now: number): void {
  for (const [key, { at }] of buckets) if (now - at >= MINUTE_MS) buckets.delete(key);
}
