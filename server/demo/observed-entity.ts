/** What the demo observes: an entity and when it is looked at. */
import type { ObservationLine } from "../../core/schema/observations.ts";
import { HOUR_MS } from "../../core/time.ts";
import { draw } from "./random.ts";
import { EPOCH } from "./growth-curves.ts";
import { MAX_OBSERVED_AGE_MS, type ObservationInterval } from "./posting-schedule.ts";

/** An entity, seen at one moment of every hour that it is due in. */
export interface ObservedEntity {
  /**
   * The moment, in milliseconds from the start of the hour. Entities have different ones, so
   * that a running demo always has something new within seconds.
   */
  readonly offsetMs: number;
  /** The instant from which it is never due again. */
  readonly endsAt: number;
  isDueAt(instant: number): boolean;
  observe(instant: number): ObservationLine;
}

/** Watches a channel or a user: every hour, always. */
export function createProfileEntity(
  seed: number,
  observe: ObservedEntity["observe"],
): ObservedEntity {
  return { offsetMs: drawHourlyOffset(seed), endsAt: Infinity, isDueAt: () => true, observe };
}

/**
 * Watches a short or a tweet: the less often, the older it is.
 *
 * @param intervals By age, youngest first.
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
    endsAt: publishedAt + MAX_OBSERVED_AGE_MS,
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
