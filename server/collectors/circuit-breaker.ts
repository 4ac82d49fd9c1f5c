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
export function readPauseEnd(pause: Pause | undefined, now: number): number | undefined {
  return pause !== undefined && pause.from <= now && now < pause.until ? pause.until : undefined;
}

/** So often a source may fail, one time after the other, before it is left alone for so long. */
const FAILURE_THRESHOLD = 3;
const FIRST_OPEN_MS = MINUTE_MS;
const MAX_OPEN_MS = HOUR_MS;

/** The rests of a source. */
export type SourceBreaker = ReturnType<typeof createSourceBreaker>;

/**
 * Makes the rests of a source: one that fails whatever it is asked is left alone for longer and
 * longer. After each rest it may fail as often as before the first: so a few of whom it tells
 * nothing, asked for one after the other, keep it from the others for minutes and not for an hour.
 */
export function createSourceBreaker() {
  let failures = 0;
  const openings = new Map<string, { readonly times: number; readonly since: number }>();
  return {
    /** Notes a failure. @returns For how many milliseconds the bucket is left alone; 0 for none. */
    recordFailure(bucket: string): number {
      failures++;
      const { times, since } = openings.get(bucket) ?? { times: 0, since: 0 };
      if (failures - since < FAILURE_THRESHOLD) return 0;
      openings.set(bucket, { times: times + 1, since: failures });
      return Math.min(FIRST_OPEN_MS * 2 ** times, MAX_OPEN_MS);
    },

    /** Notes an answer. */
    recordSuccess(): void {
      failures = 0;
      openings.clear();
    },
  };
}
