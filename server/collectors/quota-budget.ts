/** The quota of a source: counts units by quota day, and computes how much slower polls must be. */
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import type { CollectionState } from "../store/collection/collection-state.ts";
import type { Collector, QuotaBucket, TaskName } from "./collector.ts";
import {
  AGE_RANGES,
  computeIntervalMs,
  QUOTA_RESERVE_RATIO,
  type SlowdownFactors,
} from "./poll-schedule.ts";

/** The planned part of the usable units; the rest is for new items and retries. */
const PLANNED_RATIO = 0.95;
const SLOWDOWN_MAX_AGE_MS = 10 * MINUTE_MS;

export function getBucket({ buckets }: Collector, name: string): QuotaBucket {
  const bucket = buckets[name];
  if (bucket === undefined) throw new Error(`There is no bucket ${name}`);
  return bucket;
}

const readQuotaDay = (at: number, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate();

const formatQuotaDay = (at: number, timeZone: string): string =>
  readQuotaDay(at, timeZone).toString();

/** Finds when the next quota day begins, also after a day of 23 or 25 hours. */
export const findQuotaReset = (at: number, timeZone: string): number =>
  readQuotaDay(at, timeZone).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;

const usableUnits = (unitsPerDay: number) => Math.floor(unitsPerDay * (1 - QUOTA_RESERVE_RATIO));

type QuotaState = Pick<
  CollectionState,
  "countByAge" | "countTargets" | "readUsedUnits" | "reserveUnits"
>;

/** Creates the quota budget of a source; the database keeps the units that are used. */
export function createQuotaBudget(state: QuotaState, collector: Collector, now: () => number) {
  const source = collector.source.name;
  let cached: { readonly factors: SlowdownFactors; readonly computedAt: number } | undefined;
  return {
    /** Counts a unit before it is used. @returns Whether the quota day had one left. */
    reserveUnit(bucket: string): Promise<boolean> {
      const { unitsPerDay, zone } = getBucket(collector, bucket);
      const day = formatQuotaDay(now(), zone);
      return state.reserveUnits({ source, bucket, day, units: 1, limit: usableUnits(unitsPerDay) });
    },

    /** Returns today's used units and their limit for each bucket. */
    readUsage: () =>
      Promise.all(
        Object.entries(collector.buckets).map(async ([bucket, { unitsPerDay, zone }]) => ({
          bucket,
          used: await state.readUsedUnits(source, bucket, formatQuotaDay(now(), zone)),
          limit: usableUnits(unitsPerDay),
        })),
      ),

    /** Returns the factors. Computes them every ten minutes at most: that counts all items. */
    async readSlowdownFactors(): Promise<SlowdownFactors> {
      // The difference is negative after the clock was set back.
      if (cached === undefined || Math.abs(now() - cached.computedAt) >= SLOWDOWN_MAX_AGE_MS) {
        const factors = await computeSlowdownFactors(state, collector, now());
        cached = { factors, computedAt: now() };
      }
      return cached.factors;
    },
  };
}

async function computeSlowdownFactors(
  state: QuotaState,
  collector: Collector,
  now: number,
): Promise<SlowdownFactors> {
  const { tasks } = collector;
  const { platform } = collector.source;
  const profiles = await state.countTargets(platform, "profile");
  const lists = await state.countByAge(platform, "items", AGE_RANGES, now);
  const items = await state.countByAge(platform, "counts", AGE_RANGES, now);
  const emptyLists = (await state.countTargets(platform, "items")) - sumCounts(lists);
  // A list is read at its interval, and once more for each new item.
  const newItems = await state.countByAge(platform, "counts", [{ from: 0, to: DAY_MS }], now);
  const listReadsPerDay =
    estimatePollsPerDay("items", lists) +
    (emptyLists * DAY_MS) / computeIntervalMs("items", Infinity) +
    sumCounts(newItems);
  const unitsPerDay = {
    profile: ((profiles / tasks.profile.batchSize) * DAY_MS) / computeIntervalMs("profile", 0),
    items: listReadsPerDay / tasks.items.batchSize,
    counts: estimatePollsPerDay("counts", items) / tasks.counts.batchSize,
  };
  const factorOf = (bucket: string) => {
    const unitsFor = (task: TaskName) => (tasks[task].bucket === bucket ? unitsPerDay[task] : 0);
    const available = usableUnits(getBucket(collector, bucket).unitsPerDay) * PLANNED_RATIO;
    // Even if profiles take everything, a tenth is kept for the rest.
    const remaining = Math.max(available - unitsFor("profile"), available / 10);
    const needed = unitsFor("items") + unitsFor("counts");
    return needed <= remaining ? 1 : needed / remaining;
  };
  // The intervals of profiles never grow: they tell when a list has changed.
  return { profile: 1, items: factorOf(tasks.items.bucket), counts: factorOf(tasks.counts.bucket) };
}

/** Estimates the polls of the targets in each of {@link AGE_RANGES}, a tenth too many at most. */
function estimatePollsPerDay(task: TaskName, counts: readonly number[]): number {
  const pollsPerDay = AGE_RANGES.map(({ from }) => DAY_MS / computeIntervalMs(task, from));
  return sumCounts(pollsPerDay.map((polls, index) => polls * (counts[index] ?? 0)));
}

const sumCounts = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
