/** For how long a source is left alone: as it says, and where it fails again and again. */
import { HOUR_MS, MINUTE_MS } from "../../core/time.ts";

/** A time in which something is left alone, in milliseconds since 1970 UTC. */
export interface Pause {
  readonly from: number;
  readonly until: number;
}

/**
 * Until when something is left alone; `undefined` where it is not. What has not begun yet is of a
 * clock that was ahead and was set right: it holds nothing up.
 */
export function endOf(pause: Pause | undefined, now: number): number | undefined {
  return pause !== undefined && pause.from <= now && now < pause.until ? pause.until : undefined;
}

/** So often a source may fail, one time after the other, before it is left alone for so long. */
const FAILURES_MAX = 3;
const REST_MS = MINUTE_MS;
const LONGEST_REST_MS = HOUR_MS;

/** The rests of a source. */
export type Rests = ReturnType<typeof createRests>;

/**
 * Makes the rests of a source: one that fails whatever it is asked is left alone for longer and
 * longer. After each rest it may fail as often as before the first: so a few of whom it tells
 * nothing, asked for one after the other, keep it from the others for minutes and not for an hour.
 */
export function createRests() {
  let failures = 0;
  const rested = new Map<string, { readonly times: number; readonly since: number }>();
  return {
    /** Notes a failure. @returns For how many milliseconds the bucket is left alone; 0 for none. */
    fail(bucket: string): number {
      failures++;
      const { times, since } = rested.get(bucket) ?? { times: 0, since: 0 };
      if (failures - since < FAILURES_MAX) return 0;
      rested.set(bucket, { times: times + 1, since: failures });
      return Math.min(REST_MS * 2 ** times, LONGEST_REST_MS);
    },

    /** Notes an answer. */
    succeed(): void {
      failures = 0;
      rested.clear();
    },
  };
}
