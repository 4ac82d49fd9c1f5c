/**
 * The times at which creators publish, and at which their posts are observed. The schedule begins
 * at `EPOCH`, has no end, and does not depend on when the demo starts.
 */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { draw } from "./random.ts";
import { EPOCH } from "./growth-curves.ts";

const AWAKE_HOURS = 16;

/** When a creator publishes. */
export interface Rhythm {
  /** The number of posts for each day of the week, from Monday. */
  readonly week: readonly [number, number, number, number, number, number, number];
  /** The hour of the day, in UTC, when the creator gets up. */
  readonly wakeHour: number;
}

/** A post in a creator's schedule. */
export interface Slot {
  /** The number of earlier posts since `EPOCH`. */
  readonly sequence: number;
  readonly publishedAt: number;
}

/** Returns the day of an instant, counted from `EPOCH`. */
export function toDayNumber(instant: number): number {
  return Math.floor((instant - EPOCH) / DAY_MS);
}

/**
 * Lists the posts of a creator's day: 16 hours from when the creator gets up, which may end on the
 * next UTC day.
 *
 * @param seed The seed of the creator.
 * @param day Counted from `EPOCH`; earlier days have no posts.
 */
export function listSlots({ week, wakeHour }: Rhythm, seed: number, day: number): Slot[] {
  const count = day < 0 ? 0 : (week[day % 7] ?? 0);
  const first = countPostsBefore(week, day);
  const partMs = (AWAKE_HOURS * HOUR_MS) / count;
  return Array.from({ length: count }, (_, part) => {
    const sinceWaking = partMs * (part + draw(seed, first + part));
    return {
      sequence: first + part,
      publishedAt: EPOCH + day * DAY_MS + wakeHour * HOUR_MS + Math.floor(sinceWaking),
    };
  });
}

/** Counts the posts of a creator from `EPOCH` to an instant, included. */
export function countPublished(rhythm: Rhythm, seed: number, instant: number): number {
  const day = toDayNumber(instant);
  const recent = [...listSlots(rhythm, seed, day - 1), ...listSlots(rhythm, seed, day)];
  const published = recent.filter((slot) => slot.publishedAt <= instant).length;
  return countPostsBefore(rhythm.week, day - 1) + published;
}

function countPostsBefore(week: Rhythm["week"], day: number): number {
  if (day <= 0) return 0;
  return Math.floor(day / 7) * sum(week) + sum(week.slice(0, day % 7));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** How often a post younger than `maxAgeMs` is observed. */
export interface ObservationInterval {
  readonly maxAgeMs: number;
  readonly everyHours: number;
}

/** Posts of this age or older are not observed any more. */
export const OBSERVED_AGE_MAX_MS = 30 * DAY_MS;

/** The first posts of the demo's channel and user: every demo has them, as the documents say. */
export const FIRST_POST_INTERVALS: readonly ObservationInterval[] = [
  { maxAgeMs: Infinity, everyHours: 24 },
];

/** Shorts: hourly for two days, every six hours up to ten days, daily up to thirty. */
export const SHORT_INTERVALS: readonly ObservationInterval[] = [
  { maxAgeMs: 2 * DAY_MS, everyHours: 1 },
  { maxAgeMs: 10 * DAY_MS, everyHours: 6 },
  { maxAgeMs: OBSERVED_AGE_MAX_MS, everyHours: 24 },
];

/** Tweets: hourly for a day and a half, every six hours up to five days, daily up to fourteen. */
export const TWEET_INTERVALS: readonly ObservationInterval[] = [
  { maxAgeMs: 1.5 * DAY_MS, everyHours: 1 },
  { maxAgeMs: 5 * DAY_MS, everyHours: 6 },
  { maxAgeMs: 14 * DAY_MS, everyHours: 24 },
];
