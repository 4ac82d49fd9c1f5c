/** An exact model of a token bucket: tokens are rational numbers, counted in parts of a minute. */
import type { RateLimitResult } from "../../core/token-bucket.ts";

const MINUTE_MS = 60_000n;

/** The quotient, rounded up; nothing is negative. */
const divideUp = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** Creates a full bucket; returns what takes a token from it at an instant. */
export function createModelRateLimit(perMinute: number) {
  const rate = BigInt(perMinute);
  const full = rate * MINUTE_MS;
  // Tokens times 60,000: a millisecond refills `perMinute` of them.
  let tokenParts = full;
  let at: bigint | undefined;
  return (nowMs: number): Omit<RateLimitResult, "bucket"> => {
    const now = BigInt(nowMs);
    tokenParts = min(full, tokenParts + max(0n, now - (at ?? now)) * rate);
    const isAdmitted = tokenParts >= MINUTE_MS;
    if (isAdmitted) tokenParts -= MINUTE_MS;
    // If the clock goes back, nothing refills for at most a minute.
    at = max(now, min(at ?? now, now + MINUTE_MS));
    const refillsAt = at;
    const secondsUntil = (wanted: bigint) =>
      tokenParts >= wanted
        ? 0
        : Number(divideUp((refillsAt - now) * rate + wanted - tokenParts, rate * 1000n));
    return {
      isAdmitted,
      remaining: Number(tokenParts / MINUTE_MS),
      retryAfterS: secondsUntil(MINUTE_MS),
      fullAfterS: secondsUntil(full),
    };
  };
}
