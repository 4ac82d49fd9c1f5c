/** What a day of a source costs, and by how much its intervals are stretched so that it reaches. */
import type { Errand } from "../../core/collection.ts";
import {
  AGE_SPANS,
  itemEveryMs,
  listEveryMs,
  PROFILE_EVERY_MS,
  QUOTA_RESERVE,
  stretchOf,
  timesPerDay,
} from "../../core/schedule.ts";
import { DAY_MS } from "../../core/time.ts";
import type { Bucket, Collector } from "./port.ts";
import type { CollectionState } from "./state.ts";

/** The part of what may be used that is planned; the rest is for what is new, and for retries. */
const PLANNED_PART = 0.95;

/** A bucket of a source, by its name. */
export function bucketOf({ buckets }: Collector, name: string): Bucket {
  const bucket = buckets[name];
  if (bucket === undefined) throw new Error(`There is no bucket ${name}`);
  return bucket;
}

/** What the collectors use of a day's quota. */
export function limitOf(unitsPerDay: number): number {
  return Math.floor(unitsPerDay * (1 - QUOTA_RESERVE));
}

/** By how much the intervals of each errand are stretched: those of profiles never. */
export async function stretchesOf(
  state: CollectionState,
  collector: Collector,
  now: number,
): Promise<Record<Errand, number>> {
  const { platform, errands } = collector;
  const profiles = await state.countTargets(platform, "profile");
  const lists = await state.countByAge(platform, "items", AGE_SPANS, now);
  const items = await state.countByAge(platform, "counts", AGE_SPANS, now);
  const without = (await state.countTargets(platform, "items")) - sumOf(lists);
  // A list is looked through as planned, and whenever there is something new.
  const news = await state.countByAge(platform, "counts", [{ from: 0, to: DAY_MS }], now);
  const planned = timesPerDay(lists, listEveryMs) + (without * DAY_MS) / listEveryMs(Infinity);
  const perDay: Readonly<Record<Errand, number>> = {
    profile: ((profiles / errands.profile.batch) * DAY_MS) / PROFILE_EVERY_MS,
    items: (planned + sumOf(news)) / errands.items.batch,
    counts: timesPerDay(items, itemEveryMs) / errands.counts.batch,
  };
  const stretchIn = (bucket: string) => {
    const of = (errand: Errand) => (errands[errand].bucket === bucket ? perDay[errand] : 0);
    return stretchOf({
      fixed: of("profile"),
      needed: of("items") + of("counts"),
      available: limitOf(bucketOf(collector, bucket).unitsPerDay) * PLANNED_PART,
    });
  };
  return {
    profile: 1,
    items: stretchIn(errands.items.bucket),
    counts: stretchIn(errands.counts.bucket),
  };
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
