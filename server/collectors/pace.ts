/**
 * How much a source is asked at a time: its pauses, and the pace that makes a day's quota last the
 * day. Both are of this process; what is used of a quota is counted in the state.
 */
import { paceOf, tokensAt } from "../../core/schedule.ts";
import { bucketOf } from "./budget.ts";
import type { Collector } from "./port.ts";

/** The pace of one source. */
export type SourcePace = ReturnType<typeof createPace>;

/**
 * Makes the pace of a source.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createPace(collector: Collector, now: () => number) {
  const left = new Map<string, { tokens: number; at: number }>();
  const pauses = new Map<string, number>();

  const pace = (name: string) => {
    const { unitsPerDay, window } = bucketOf(collector, name);
    return paceOf(unitsPerDay, window);
  };

  return {
    /** When the bucket may be asked again: now, or later. */
    readyAt(name: string): number {
      const at = now();
      const tokens = tokensAt(left.get(name), pace(name), at);
      const pacedAt = tokens >= 1 ? at : at + (1 - tokens) / pace(name).perMs;
      return Math.max(pacedAt, pauses.get(name) ?? 0);
    },

    /**
     * Counts a request. An errand that has begun is not cut off: what it takes more than there is
     * is waited for before the next.
     */
    take(name: string): void {
      const at = now();
      left.set(name, { tokens: tokensAt(left.get(name), pace(name), at) - 1, at });
    },

    /** Asks nothing of a bucket until then. */
    pause(name: string, until: number): void {
      pauses.set(name, until);
    },

    /** Until when a bucket is paused; `undefined` where it is not. */
    pausedUntil(name: string): number | undefined {
      const until = pauses.get(name);
      return until !== undefined && until > now() ? until : undefined;
    },
  };
}
