/** What the demo observes: an entity and when it is looked at. */
import type { ObservationLine } from "../../core/schema/observations.ts";
import { draw } from "./chance.ts";
import { HOUR_MS } from "./curves.ts";

/** An entity, seen at one moment of every hour that it is due in. */
export interface Subject {
  /** The moment, in milliseconds from the start of the hour. */
  readonly momentMs: number;
  /** The instant past which it is never due again. */
  readonly lastAt: number;
  isDueAt(instant: number): boolean;
  observe(instant: number): ObservationLine;
}

/**
 * Draws an entity's moment of the hour: different ones, so that a running demo always has
 * something new within seconds.
 */
export function hourlyMoment(seed: number): number {
  return Math.floor(draw(seed, 40) * HOUR_MS);
}
