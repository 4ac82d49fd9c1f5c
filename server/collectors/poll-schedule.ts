/**
 * Decides when something is polled again.
 *
 * The counts of a young item change fast, those of an old one slowly. So an item is polled whenever
 * its age has grown by 1/24: each observation adds about as much as the one before.
 *
 * Profiles are polled every hour, many with one request. A profile says how many items there are,
 * and a new number makes the list of items due. A number can be late or hide a change (one item
 * added, one removed), so lists are also polled by the age of their newest item.
 *
 * If a quota does not suffice, all intervals grow by the same factor, except those of profiles.
 */
import type { AgeRange, TargetUpdate } from "../store/collection/targets.ts";
import type { DueTarget, SourceState, TaskName } from "./targets.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { formatReason, type Collector, type SourceError } from "./collector.ts";

/** The factor by which the poll intervals of each task grow: 1 or more. */
export type SlowdownFactors = Readonly<Record<TaskName, number>>;

export const PROFILE_INTERVAL_MS = HOUR_MS;

/** Targets that are due this soon fill up a batch of due targets. */
export const LOOK_AHEAD_MS = HOUR_MS / 4;

/** The part of a day's quota that is never used: for manual requests, and for miscounts. */
export const QUOTA_RESERVE_RATIO = 0.1;

const AGE_DIVISOR = 24;
const ITEM_INTERVAL_BOUNDS = { minMs: HOUR_MS / 2, maxMs: 14 * DAY_MS };
const LIST_INTERVAL_BOUNDS = { minMs: 6 * HOUR_MS, maxMs: DAY_MS };
const GONE_INTERVAL_MAX_MS = 30 * DAY_MS;
/** The delay after the first failure; each further one doubles it. */
const RETRY_BASE_MS = 5 * MINUTE_MS;

/**
 * Computes the interval of an item.
 *
 * @param ageMs Milliseconds since it was published.
 *
 * @example
 * computeItemIntervalMs(7 * 86_400_000); // 7 * 3_600_000
 */
export function computeItemIntervalMs(ageMs: number): number {
  return clampInterval(ageMs / AGE_DIVISOR, ITEM_INTERVAL_BOUNDS);
}

/**
 * Computes the interval of a list of items.
 *
 * @param ageMs Milliseconds since the newest item was published; `Infinity` for an empty list.
 */
export function computeListIntervalMs(ageMs: number): number {
  return clampInterval(ageMs / AGE_DIVISOR, LIST_INTERVAL_BOUNDS);
}

function clampInterval(ms: number, { minMs, maxMs }: { minMs: number; maxMs: number }): number {
  return Math.min(maxMs, Math.max(minMs, ms));
}

/**
 * The ranges of age by which targets are counted to estimate their polls. The first ends where
 * intervals begin to grow, each further one is a tenth longer, and the last has no end.
 */
export const AGE_RANGES: readonly AgeRange[] = createAgeRanges();

function createAgeRanges(): AgeRange[] {
  const ranges: AgeRange[] = [];
  let from = 0;
  let to = ITEM_INTERVAL_BOUNDS.minMs * AGE_DIVISOR;
  while (to < ITEM_INTERVAL_BOUNDS.maxMs * AGE_DIVISOR) {
    ranges.push({ from, to });
    from = to;
    to = Math.floor(to * 1.1);
  }
  return [...ranges, { from, to: Infinity }];
}

/**
 * Estimates the polls of a day, a tenth too many at most.
 *
 * @param counts Targets in each of {@link AGE_RANGES}.
 * @param computeIntervalMs {@link computeItemIntervalMs} or {@link computeListIntervalMs}.
 */
export function estimatePollsPerDay(
  counts: readonly number[],
  computeIntervalMs: (ageMs: number) => number,
): number {
  return AGE_RANGES.reduce(
    (sum, { from }, index) => sum + ((counts[index] ?? 0) * DAY_MS) / computeIntervalMs(from),
    0,
  );
}

/**
 * Computes the factor by which intervals must grow to fit a quota: 1 or more. All in units a day.
 *
 * @param quota `needed` shrinks as intervals grow; `fixed` does not.
 *
 * @example
 * computeSlowdownFactor({ needed: 18_000, fixed: 0, available: 9000 }); // 2
 */
export function computeSlowdownFactor(quota: {
  readonly needed: number;
  readonly fixed: number;
  readonly available: number;
}): number {
  const { needed, fixed, available } = quota;
  // Even if `fixed` takes everything, a tenth is kept for the rest.
  const remaining = Math.max(available - fixed, available / 10);
  return needed <= remaining ? 1 : needed / remaining;
}

/**
 * Computes when something is due after a poll. The first time, it is due anywhere within its
 * interval, so that targets that were added together spread out; later it moves by up to a tenth.
 *
 * @param chance From 0 to below 1; see {@link computeJitter}.
 */
export function computeNextDueAt(options: {
  readonly now: number;
  readonly everyMs: number;
  readonly isFirst: boolean;
  readonly chance: number;
}): number {
  const { now, everyMs, isFirst, chance } = options;
  const fraction = isFirst ? 0.1 + 0.9 * chance : 0.9 + 0.2 * chance;
  return Math.round(now + everyMs * fraction);
}

/**
 * Computes the interval after failures: short, then longer and longer, up to the usual one.
 *
 * @param failures Failures since the last success, 1 or more.
 */
export function computeRetryIntervalMs(everyMs: number, failures: number): number {
  return Math.min(everyMs, RETRY_BASE_MS * 2 ** (failures - 1));
}

/**
 * Computes the interval of an item that is gone, which may come back: a day, doubled each time.
 *
 * @param failures How many times in a row it was gone, 1 or more.
 *
 * @example
 * computeGoneItemIntervalMs(1); // 86_400_000
 */
export function computeGoneItemIntervalMs(failures: number): number {
  return Math.min(GONE_INTERVAL_MAX_MS, DAY_MS * 2 ** (failures - 1));
}

/** Hashes text to a number from 0 to below 1. */
export function computeJitter(text: string): number {
  return Bun.hash.xxHash32(text) / 2 ** 32;
}

/** The merged results of a target, and the changes of its state. */
export interface TargetResult {
  failure?: string;
  isGone: boolean;
  sourceState?: SourceState;
  publishedAt?: number;
  itemCount?: number;
}

/**
 * Computes the update of a target.
 *
 * @param result `undefined`: the poll returned nothing for the target.
 * @param sourceError The error that ended the task early.
 * @returns `undefined`: the target stays due, because the source was not polled for it.
 */
export function reschedule(
  options: {
    readonly collector: Collector;
    readonly slowdownFactors: SlowdownFactors;
    readonly now: number;
  },
  task: TaskName,
  target: DueTarget,
  result: TargetResult | undefined,
  sourceError?: SourceError,
): TargetUpdate | undefined {
  const { collector, slowdownFactors, now } = options;
  const { id } = target;
  const kind = sourceError?.kind;
  if (result === undefined && (kind === "rate-limited" || kind === "stop")) {
    const { until, bucket } = sourceError ?? {};
    // If the task's own bucket is not paused, only this target waits: others may not need the other.
    const isOtherBucket = bucket !== collector.tasks[task].bucket;
    const isWaiting = kind === "rate-limited" && until !== undefined && isOtherBucket;
    return isWaiting ? { id, dueAt: until } : undefined;
  }
  const chance = computeJitter(`${id} ${now}`);
  const { failure, isGone, ...changes }: TargetResult = result ?? { isGone: false };
  const newestAt = Math.max(changes.publishedAt ?? -Infinity, target.publishedAt ?? -Infinity);
  if (changes.publishedAt !== undefined) changes.publishedAt = newestAt;
  const everyMs = pollIntervalMs(task, now - newestAt) * slowdownFactors[task];
  // Of a list, no result is no failure: it may have no new items.
  const missingReason = task === "items" ? undefined : "The source returned nothing for it";
  const reason = result === undefined ? (sourceError?.message ?? missingReason) : failure;
  if (reason === undefined) {
    const isFirst = target.succeededAt === null;
    const dueAt = computeNextDueAt({ now, everyMs, isFirst, chance });
    return { id, dueAt, succeededAt: now, ...changes };
  }
  const failures = target.failures + 1;
  // A channel or user on the lists is polled every day; a gone item more and more rarely.
  const goneIntervalMs = task === "counts" ? computeGoneItemIntervalMs(failures) : DAY_MS;
  const retryMs = isGone ? goneIntervalMs : computeRetryIntervalMs(everyMs, failures);
  const dueAt = computeNextDueAt({ now, everyMs: retryMs, isFirst: false, chance });
  return { id, dueAt, failure: { at: now, reason: formatReason(reason) }, ...changes };
}

/** @param ageMs Milliseconds since the item, or the newest item of a list, was published. */
function pollIntervalMs(task: TaskName, ageMs: number): number {
  if (task === "profile") return PROFILE_INTERVAL_MS;
  return task === "items" ? computeListIntervalMs(ageMs) : computeItemIntervalMs(ageMs);
}

/** Computes when a new item is polled for the first time. */
export function firstDueAt(
  { id, publishedAt }: { readonly id: string; readonly publishedAt: number },
  now: number,
  slowdownFactors: SlowdownFactors,
): number {
  const everyMs = pollIntervalMs("counts", now - publishedAt) * slowdownFactors.counts;
  return computeNextDueAt({ now, everyMs, isFirst: true, chance: computeJitter(id) });
}
