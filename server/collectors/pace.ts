/**
 * How much a source is asked at a time: its pauses and windows, and the pace that makes a day's
 * quota last the day. All are of this process; what is used of a quota is counted in the state.
 */
import { paceOf, QUOTA_RESERVE, tokensAt } from "../../core/schedule.ts";
import { bucketOf } from "./budget.ts";
import type { Bucket } from "../../core/rate.ts";
import type { Collector } from "./port.ts";
import { endOf, type Pause } from "./rests.ts";

/** The pace of one source. */
export type SourcePace = ReturnType<typeof createPace>;

/**
 * Makes the pace of a source.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 */
export function createPace(collector: Collector, now: () => number) {
  const left = new Map<string, { tokens: number; at: number }>();
  const windows = new Map<string, { beganAt: number; used: number }>();
  const pauses = new Map<string, Pause>();

  const pace = (name: string) => paceOf(bucketOf(collector, name).unitsPerDay);

  /** When the window of a bucket has room: now, or later. */
  function roomAt(name: string): number {
    const { window } = bucketOf(collector, name);
    const open = windows.get(name);
    if (window === undefined || open === undefined) return now();
    const isFull = open.used >= window.requests * (1 - QUOTA_RESERVE);
    // Where the clock went back, it is waited for as long as the window is, and no longer.
    open.beganAt = Math.min(open.beganAt, now());
    return isFull ? Math.max(now(), open.beganAt + window.ms) : now();
  }

  /** What is left in a pace's bucket; where the clock went back, it is filled from then on. */
  function leftOf(name: string): Bucket | undefined {
    const held = left.get(name);
    if (held !== undefined) held.at = Math.min(held.at, now());
    return held;
  }

  /** Counts a request in the window of a bucket; the first after one begins the next. */
  function enter(name: string): void {
    const { window } = bucketOf(collector, name);
    if (window === undefined) return;
    const open = windows.get(name);
    if (open === undefined || now() >= open.beganAt + window.ms) {
      windows.set(name, { beganAt: now(), used: 1 });
    } else open.used++;
  }

  /** Until when a bucket is paused; `undefined` where it is not. */
  const pausedUntil = (name: string) => endOf(pauses.get(name), now());

  return {
    /**
     * When the bucket may be asked again: now, or later.
     *
     * @param isPaced Whether a day's quota is to last the day; a pause and a window count anyway.
     */
    readyAt(name: string, isPaced: boolean): number {
      const at = now();
      const tokens = isPaced ? tokensAt(leftOf(name), pace(name), at) : 1;
      const pacedAt = tokens >= 1 ? at : at + (1 - tokens) / pace(name).perMs;
      return Math.max(pacedAt, roomAt(name), pausedUntil(name) ?? 0);
    },

    /**
     * Counts a request. An errand that has begun is not cut off: what it takes more than there is
     * is waited for before the next, up to what may be used at once. More is not owed: the quota
     * itself is counted by the day.
     */
    take(name: string): void {
      const at = now();
      const tokens = tokensAt(leftOf(name), pace(name), at) - 1;
      left.set(name, { tokens: Math.max(-pace(name).burst, tokens), at });
      enter(name);
    },

    /** Asks nothing of a bucket until then. */
    pause(name: string, until: number): void {
      pauses.set(name, { from: now(), until });
    },

    pausedUntil,
  };
}
