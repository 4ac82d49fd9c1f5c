/**
 * Generates the demo's data: a plausible history of channels, shorts, users and tweets. All of it is a
 * function of the instant, so a demo continues its history after a stop, and two demos at the same
 * time show the same data.
 */
import type { ObservationLine } from "../../core/resources/generated/types.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { EPOCH, toDayNumber } from "./creators.ts";
import { createPosts, createProfiles, OBSERVED_AGE_MAX_MS } from "./entities.ts";

/** A time range in milliseconds since 1970 UTC; `from` is included, `to` is not. */
type ObservationWindow = Readonly<Record<"from" | "to", number>>;

/**
 * Generates the observations that a collector would have made in a window, oldest first. Two
 * adjoining windows give the same observations as one window over both. Nothing is observed before
 * 2024; the end may be in the future.
 */
export function* generateObservations({ from, to }: ObservationWindow): Generator<ObservationLine> {
  const start = Math.max(from, EPOCH);
  // The first day has the posts that are observed for good.
  let entities = [...createProfiles(), ...createPosts(0)];
  // One day more, because a creator's day may end on the next UTC day.
  let nextDay = Math.max(1, toDayNumber(start - OBSERVED_AGE_MAX_MS) - 1);
  for (let hour = start - (start % HOUR_MS); hour < to; hour += HOUR_MS) {
    for (; nextDay * DAY_MS + EPOCH <= hour; nextDay++) {
      entities = entities.filter(({ endsAt }) => endsAt > hour);
      entities.push(...createPosts(nextDay));
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
  const profiles = createProfiles();
  for (let day = from - (from % DAY_MS); day < window.to; day += DAY_MS) {
    yield* observeInHour(profiles, day, { from, to: window.to });
  }
}

function observeInHour(
  entities: ReturnType<typeof createPosts>,
  hour: number,
  { from, to }: ObservationWindow,
): ObservationLine[] {
  return entities
    .map((entity) => ({ entity, instant: hour + entity.offsetMs }))
    .filter(({ entity, instant }) => instant >= from && instant < to && entity.isDueAt(instant))
    .toSorted((a, b) => a.instant - b.instant)
    .map(({ entity, instant }) => entity.observe(instant));
}
