/** What a day of a source costs, and by how much its intervals are stretched so that it reaches. */
import type { TaskName } from "../ports/targets.ts";
import {
  AGE_RANGES,
  computeItemIntervalMs,
  computeListIntervalMs,
  PROFILE_INTERVAL_MS,
  QUOTA_RESERVE_RATIO,
  computeSlowdownFactor,
  estimatePollsPerDay,
} from "./poll-schedule.ts";
import { DAY_MS } from "../../core/time.ts";
import type { QuotaBucket, Collector } from "./collector.ts";
import type { CollectionState } from "../ports/collection.ts";

/** The part of what may be used that is planned; the rest is for what is new, and for retries. */
const PLANNED_SHARE = 0.95;

/** A bucket of a source, by its name. */
export function getBucket({ buckets }: Collector, name: string): QuotaBucket {
  const bucket = buckets[name];
  if (bucket === undefined) throw new Error(`There is no bucket ${name}`);
  return bucket;
}

/** What the collectors use of a day's quota. */
export function usableUnits(unitsPerDay: number): number {
  return Math.floor(unitsPerDay * (1 - QUOTA_RESERVE_RATIO));
}

/** By how much the intervals of each errand are stretched: those of profiles never. */
export async function computeSlowdownFactors(
  state: CollectionState,
  collector: Collector,
  now: number,
): Promise<Record<TaskName, number>> {
  const { platform, tasks: errands } = collector;
  const profiles = await state.countTargets(platform, "profile");
  const lists = await state.countByAge(platform, "items", AGE_RANGES, now);
  const items = await state.countByAge(platform, "counts", AGE_RANGES, now);
  const emptyLists = (await state.countTargets(platform, "items")) - sumCounts(lists);
  // A list is looked through as planned, and whenever there is something new.
  const newItems = await state.countByAge(platform, "counts", [{ from: 0, to: DAY_MS }], now);
  const plannedPerDay =
    estimatePollsPerDay(lists, computeListIntervalMs) +
    (emptyLists * DAY_MS) / computeListIntervalMs(Infinity);
  const perDay: Readonly<Record<TaskName, number>> = {
    profile: ((profiles / errands.profile.batchSize) * DAY_MS) / PROFILE_INTERVAL_MS,
    items: (plannedPerDay + sumCounts(newItems)) / errands.items.batchSize,
    counts: estimatePollsPerDay(items, computeItemIntervalMs) / errands.counts.batchSize,
  };
  const slowdownFactorIn = (bucket: string) => {
    const unitsFor = (errand: TaskName) => (errands[errand].bucket === bucket ? perDay[errand] : 0);
    return computeSlowdownFactor({
      fixed: unitsFor("profile"),
      needed: unitsFor("items") + unitsFor("counts"),
      available: usableUnits(getBucket(collector, bucket).unitsPerDay) * PLANNED_SHARE,
    });
  };
  return {
    profile: 1,
    items: slowdownFactorIn(errands.items.bucket),
    counts: slowdownFactorIn(errands.counts.bucket),
  };
}

function sumCounts(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
