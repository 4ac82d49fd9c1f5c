/** Decides when a webhook that was not delivered is tried again. */
import { HOUR_MS } from "../../core/time.ts";

/**
 * How often a webhook is tried: over about three days, from two to four. It is a number of attempts
 * and no time, so that a service that is off, or a clock that is wrong, takes none of them away.
 */
const ATTEMPTS_MAX = 28;

const FIRST_DELAY_MS = 5000;

/** The longest delay between two attempts. */
export const DELAY_MAX_MS = 6 * HOUR_MS;

/** A failed attempt; instants are milliseconds since 1970 UTC. */
interface FailedAttempt {
  /** The attempts so far. */
  readonly attempts: number;
  readonly now: number;
  /** From 0 to 1. It spreads the attempts, so that those that failed together do not come together. */
  readonly jitter: number;
}

/**
 * Computes the next attempt: the delay doubles each time, from 5 seconds up to 6 hours, and jitter
 * shortens it by up to a half.
 *
 * @returns `null` after the last attempt, the 28th.
 *
 * @example
 * computeNextAttempt({ attempts: 1, now: 1000, jitter: 0 }); // 6000
 * computeNextAttempt({ attempts: 3, now: 20_000, jitter: 1 }); // 30_000
 */
export function computeNextAttempt({ attempts, now, jitter }: FailedAttempt): number | null {
  if (attempts >= ATTEMPTS_MAX) return null;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), DELAY_MAX_MS);
  return now + Math.round(delayMs * (1 - jitter / 2));
}
