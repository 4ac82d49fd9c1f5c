/**
 * The demo's data: a believable history of channels, shorts, users, tweets and followers.
 *
 * It reads no clock and keeps no state. What is published, when it is observed and what is then
 * seen are functions of the instant alone, so a demo that was stopped continues its history, and
 * two demos of one moment show the same.
 */
import type { ObservationLine } from "../../core/schema/observations.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { EPOCH } from "./growth-curves.ts";
import { listFirstTweets, listTweets, listUsers } from "./microblog.ts";
import { toDayNumber, MAX_OBSERVED_AGE_MS } from "./posting-schedule.ts";
import type { ObservedEntity } from "./observed-entity.ts";
import { listChannels, listFirstShorts, listShorts } from "./video.ts";

/** Instants, in milliseconds since 1970 UTC: from `from`, included, to `to`, not included. */
export interface ObservationWindow {
  readonly from: number;
  readonly to: number;
}

/**
 * Generates what a collector would have observed in a span of instants, oldest first.
 *
 * The observations of two adjoining spans, one after the other, are those of the whole span.
 *
 * @param span Nothing is observed before 2024; the future is as long as you like.
 *
 * @example
 * const to = Date.parse("2026-11-20T12:00:00Z");
 * Array.from(generateObservations({ from: to - 3_600_000, to })).length > 0; // true
 */
export function* generateObservations({ from, to }: ObservationWindow): Generator<ObservationLine> {
  const start = Math.max(from, EPOCH);
  const permanentEntities = [
    ...listChannels(),
    ...listUsers(),
    ...listFirstShorts(),
    ...listFirstTweets(),
  ];
  let posts: ObservedEntity[] = [];
  // A creator's day may end on the next UTC day, hence one more.
  let nextDay = Math.max(0, toDayNumber(start - MAX_OBSERVED_AGE_MS) - 1);
  for (let hour = start - (start % HOUR_MS); hour < to; hour += HOUR_MS) {
    for (; nextDay * DAY_MS + EPOCH <= hour; nextDay++) {
      posts = posts.filter(({ endsAt }) => endsAt > hour);
      posts.push(...listShorts(nextDay), ...listTweets(nextDay));
    }
    yield* observeHour([...permanentEntities, ...posts], hour, { from: start, to });
  }
}

/** Observes what is due in an hour, in order; at one instant, in the order of the subjects. */
function observeHour(
  entities: readonly ObservedEntity[],
  hour: number,
  { from, to }: ObservationWindow,
) {
  return entities
    .map((subject) => ({ subject, instant: hour + subject.offsetMs }))
    .filter(({ subject, instant }) => instant >= from && instant < to && subject.isDueAt(instant))
    .toSorted((a, b) => a.instant - b.instant)
    .map(({ subject, instant }) => subject.observe(instant));
}
