/** What the demo observes: an entity and when it is looked at. */
import type { ObservationLine } from "../../core/schema/observations.ts";
import { HOUR_MS } from "../../core/time.ts";
import { draw } from "./chance.ts";
import { EPOCH } from "./curves.ts";
import { WATCHED_MAX_MS, type Watch } from "./schedule.ts";

/** An entity, seen at one moment of every hour that it is due in. */
export interface Subject {
  /**
   * The moment, in milliseconds from the start of the hour. Entities have different ones, so
   * that a running demo always has something new within seconds.
   */
  readonly momentMs: number;
  /** The instant from which it is never due again. */
  readonly until: number;
  isDueAt(instant: number): boolean;
  observe(instant: number): ObservationLine;
}

/** Watches a channel or a user: every hour, always. */
export function watchProfile(seed: number, observe: Subject["observe"]): Subject {
  return { momentMs: hourlyMoment(seed), until: Infinity, isDueAt: () => true, observe };
}

/**
 * Watches a short or a tweet: the less often, the older it is.
 *
 * @param watches By age, youngest first.
 */
export function watchPost(
  watches: readonly Watch[],
  seed: number,
  publishedAt: number,
  observe: Subject["observe"],
): Subject {
  // Spreads the rare observations of old posts over the hours of the day.
  const stagger = Math.floor(draw(seed, 30) * 24);
  return {
    momentMs: hourlyMoment(seed),
    until: publishedAt + WATCHED_MAX_MS,
    isDueAt(instant) {
      const age = instant - publishedAt;
      const watch = age < 0 ? undefined : watches.find(({ untilMs }) => age < untilMs);
      if (watch === undefined) return false;
      return (Math.floor((instant - EPOCH) / HOUR_MS) + stagger) % watch.everyHours === 0;
    },
    observe,
  };
}

function hourlyMoment(seed: number): number {
  return Math.floor(draw(seed, 40) * HOUR_MS);
}
