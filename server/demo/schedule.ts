/** When creators publish: from `EPOCH` on, without end, whenever the demo starts. */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import type { DemoCreator } from "./creators.ts";
import { draw, hashSeed } from "./random.ts";

/** The start of the schedule, a Monday. Nothing is published or observed before it. */
export const EPOCH = Date.UTC(2024, 0, 1);

const AWAKE_HOURS = 16;

/** A post in a creator's schedule. */
export interface Slot {
  /** The number of earlier posts since `EPOCH`. */
  readonly sequence: number;
  readonly publishedAt: number;
}

export const toDayNumber = (instant: number): number => Math.floor((instant - EPOCH) / DAY_MS);

/** Lists the posts of a day since `EPOCH`: of 16 hours from when the creator gets up. */
export function listSlots(creator: DemoCreator, day: number): Slot[] {
  const { username, postsByWeekday, wakeHour } = creator;
  const count = day < 0 ? 0 : (postsByWeekday[day % 7] ?? 0);
  const first = countPostsBefore(creator, day);
  const partMs = (AWAKE_HOURS * HOUR_MS) / count;
  return Array.from({ length: count }, (_, part) => {
    const sinceWaking = partMs * (part + draw(hashSeed(username), first + part));
    return {
      sequence: first + part,
      publishedAt: EPOCH + day * DAY_MS + wakeHour * HOUR_MS + Math.floor(sinceWaking),
    };
  });
}

/** Counts the posts of a creator from `EPOCH` to an instant, included. */
export function countPublished(creator: DemoCreator, instant: number): number {
  const day = toDayNumber(instant);
  const recent = [...listSlots(creator, day - 1), ...listSlots(creator, day)];
  const published = recent.filter((slot) => slot.publishedAt <= instant).length;
  return countPostsBefore(creator, day - 1) + published;
}

/** Counts the posts of a creator from `EPOCH` to the start of a day. */
export function countPostsBefore({ postsByWeekday }: DemoCreator, day: number): number {
  if (day <= 0) return 0;
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return Math.floor(day / 7) * sum(postsByWeekday) + sum(postsByWeekday.slice(0, day % 7));
}
