/** Decides when a webhook that was not delivered is tried again. */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";

/** How long a webhook is tried. */
const RETRY_MAX_AGE_MS = 3 * DAY_MS;

const FIRST_DELAY_MS = 5000;
const DELAY_MAX_MS = 6 * HOUR_MS;

/** A failed attempt; instants are milliseconds since 1970 UTC. */
export interface FailedAttempt {
  /** When what the webhook reports happened. */
  readonly at: number;
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
 * @returns `null` if the attempt would come more than three days after what the webhook reports.
 *
 * @example
 * computeNextAttempt({ at: 0, attempts: 1, now: 1000, jitter: 0 }); // 6000
 * computeNextAttempt({ at: 0, attempts: 3, now: 20_000, jitter: 1 }); // 30_000
 */
export function computeNextAttempt({ at, attempts, now, jitter }: FailedAttempt): number | null {
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), DELAY_MAX_MS);
  const next = now + Math.round(delayMs * (1 - jitter / 2));
  return next - at > RETRY_MAX_AGE_MS ? null : next;
}
