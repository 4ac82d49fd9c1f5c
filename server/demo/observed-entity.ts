/** The entities that the demo observes, and when it observes them. */
import type { ObservationLine } from "../../core/schema/observations.ts";
import { HOUR_MS } from "../../core/time.ts";
import { draw } from "./random.ts";
import { EPOCH } from "./growth-curves.ts";
import { OBSERVED_AGE_MAX_MS, type ObservationInterval } from "./posting-schedule.ts";

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

/** Creates a channel or a user, which is observed every hour. */
export function createProfileEntity(
  seed: number,
  observe: ObservedEntity["observe"],
): ObservedEntity {
  return { offsetMs: drawHourlyOffset(seed), endsAt: Infinity, isDueAt: () => true, observe };
}

/**
 * Creates a short or a tweet, which is observed less often the older it is.
 *
 * @param intervals By rising age.
 */
export function createPostEntity(
  intervals: readonly ObservationInterval[],
  seed: number,
  publishedAt: number,
  observe: ObservedEntity["observe"],
): ObservedEntity {
  // Spreads the rare observations of old posts over the hours of the day.
  const stagger = Math.floor(draw(seed, 30) * 24);
  return {
    offsetMs: drawHourlyOffset(seed),
    endsAt: publishedAt + OBSERVED_AGE_MAX_MS,
    isDueAt(instant) {
      const age = instant - publishedAt;
      const interval = age < 0 ? undefined : intervals.find(({ maxAgeMs }) => age < maxAgeMs);
      if (interval === undefined) return false;
      return (Math.floor((instant - EPOCH) / HOUR_MS) + stagger) % interval.everyHours === 0;
    },
    observe,
  };
}

function drawHourlyOffset(seed: number): number {
  return Math.floor(draw(seed, 40) * HOUR_MS);
}
