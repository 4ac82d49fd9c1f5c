/**
 * Generates the demo's data: a plausible history of channels, shorts, users and tweets. All of it is a
 * function of the instant, so a demo continues its history after a stop, and two demos at the same
 * time show the same data.
 */
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import {
  createPosts,
  createProfiles,
  OBSERVED_AGE_MAX_MS,
  type ObservedEntity,
} from "./entities.ts";
import { draw } from "./random.ts";
import { EPOCH, toDayNumber } from "./schedule.ts";

/** A time range in milliseconds since 1970 UTC; `from` is included, `to` is not. */
interface ObservationWindow {
  readonly from: number;
  readonly to: number;
}

/**
 * Generates the observations that a collector would have made in a window, oldest first. Two
 * adjoining windows give the same observations as one window over both.
 *
 * @param window Nothing is observed before 2024. The end may be in the future.
 *
 * @example
 * const to = Date.parse("2026-11-20T12:00:00Z");
 * Array.from(generateObservations({ from: to - 3_600_000, to })).length > 0; // true
 */
export function* generateObservations({ from, to }: ObservationWindow): Generator<ObservationLine> {
  const start = Math.max(from, EPOCH);
  // The first day has the posts that are observed for good.
  let entities = [...createProfiles(), ...createPosts(0)].map(schedule);
  // One day more, because a creator's day may end on the next UTC day.
  let nextDay = Math.max(1, toDayNumber(start - OBSERVED_AGE_MAX_MS) - 1);
  for (let hour = start - (start % HOUR_MS); hour < to; hour += HOUR_MS) {
    for (; nextDay * DAY_MS + EPOCH <= hour; nextDay++) {
      entities = entities.filter(({ endsAt }) => endsAt > hour);
      entities.push(...createPosts(nextDay).map(schedule));
    }
    yield* observeInHour(entities, hour, { from: start, to });
  }
}

/**
 * Generates one observation a day of each channel and user, oldest first: the history from before
 * the demo. They are among those of {@link generateObservations}, so both can be imported.
 */
export function* generateDailyProfiles(window: ObservationWindow): Generator<ObservationLine> {
  const from = Math.max(window.from, EPOCH);
  const profiles = createProfiles().map(schedule);
  for (let day = from - (from % DAY_MS); day < window.to; day += DAY_MS) {
    yield* observeInHour(profiles, day, { from, to: window.to });
  }
}

/** Observes the entities that are due in an hour and within the window, in the order of time. */
function observeInHour(
  entities: readonly ScheduledEntity[],
  hour: number,
  { from, to }: ObservationWindow,
): ObservationLine[] {
  return entities
    .map((entity) => ({ entity, instant: hour + entity.offsetMs }))
    .filter(({ entity, instant }) => instant >= from && instant < to && entity.isDueAt(instant))
    .toSorted((a, b) => a.instant - b.instant)
    .map(({ entity, instant }) => entity.observe(instant));
}

type ScheduledEntity = ReturnType<typeof schedule>;

/** Schedules the observations of an entity: one in every hour in which it is due. */
function schedule({ seed, publishedAt, intervals, observe }: ObservedEntity) {
  // Spreads the rare observations of old posts over the hours of the day.
  const stagger = Math.floor(draw(seed, 30) * 24);
  return {
    observe,
    // From the start of the hour: a running demo has new observations every few seconds.
    offsetMs: Math.floor(draw(seed, 40) * HOUR_MS),
    /** The instant from which it is never due again. */
    endsAt: publishedAt + (intervals.at(-1)?.maxAgeMs ?? 0),
    isDueAt(instant: number): boolean {
      const age = instant - publishedAt;
      const interval = age < 0 ? undefined : intervals.find(({ maxAgeMs }) => age < maxAgeMs);
      if (interval === undefined) return false;
      return (Math.floor((instant - EPOCH) / HOUR_MS) + stagger) % interval.everyHours === 0;
    },
  };
}
