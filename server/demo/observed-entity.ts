/** The entities that the demo observes, and when it observes them. */
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { EPOCH } from "./posting-schedule.ts";
import { draw } from "./random.ts";

/** Posts of this age or older are not observed any more, except the first of the demo's creators. */
export const OBSERVED_AGE_MAX_MS = 30 * DAY_MS;

/** How often an entity younger than `maxAgeMs` is observed. */
interface ObservationInterval {
  readonly maxAgeMs: number;
  readonly everyHours: number;
}

/** Channels and users. */
export const PROFILE_INTERVALS = [{ maxAgeMs: Infinity, everyHours: 1 }];

/** The first posts of the demo's channel and user: every demo has them, as the documents say. */
export const FIRST_POST_INTERVALS = [{ maxAgeMs: Infinity, everyHours: 24 }];

/** An entity that is observed once in every hour in which it is due. */
export interface ObservedEntity {
  /**
   * The time of the observation, in milliseconds from the start of the hour. It differs between
   * entities, so that a running demo has new observations every few seconds.
   */
  readonly offsetMs: number;
  /** The instant from which it is never due again. */
  readonly endsAt: number;
  isDueAt(instant: number): boolean;
  observe(instant: number): ObservationLine;
}

/**
 * Creates an entity that is observed less often the older it is.
 *
 * @param intervals By rising age.
 */
export function createObservedEntity(
  seed: number,
  publishedAt: number,
  intervals: readonly ObservationInterval[],
  observe: ObservedEntity["observe"],
): ObservedEntity {
  // Spreads the rare observations of old posts over the hours of the day.
  const stagger = Math.floor(draw(seed, 30) * 24);
  return {
    offsetMs: Math.floor(draw(seed, 40) * HOUR_MS),
    endsAt: publishedAt + (intervals.at(-1)?.maxAgeMs ?? 0),
    isDueAt(instant) {
      const age = instant - publishedAt;
      const interval = age < 0 ? undefined : intervals.find(({ maxAgeMs }) => age < maxAgeMs);
      if (interval === undefined) return false;
      return (Math.floor((instant - EPOCH) / HOUR_MS) + stagger) % interval.everyHours === 0;
    },
    observe,
  };
}
