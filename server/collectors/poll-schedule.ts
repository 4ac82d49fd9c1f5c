/**
 * Decides when a target is polled next: intervals by age, slowdown for quotas, retries, jitter.
 *
 * The counts of a young item change fast, the counts of an old item slowly. So an item is polled
 * whenever its age has grown by 1/24: each observation adds about as much as the one before.
 *
 * Profiles are polled every hour, many with one request. A profile says how many items there are,
 * and a new number makes the list of items due. A number can be late or hide a change (one item
 * added, one removed), so lists are also polled by the age of their newest item.
 *
 * If a bucket's quota does not suffice, the intervals of all its tasks but profiles grow alike.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { TargetUpdate } from "../store/collection/targets.ts";
import {
  formatReason,
  type Collector,
  type SourceError,
  type DiscoveredItem,
  type DueTarget,
  type SourceState,
  type TaskName,
} from "./collector.ts";

/** The factor by which the poll intervals of each task grow: 1 or more. */
export type SlowdownFactors = Readonly<Record<TaskName, number>>;

/** Targets that are due this soon fill up a batch of due targets. */
export const LOOK_AHEAD_MS = HOUR_MS / 4;

/** The part of a day's quota that is never used: for manual requests, and for miscounts. */
export const QUOTA_RESERVE_RATIO = 0.1;

const AGE_DIVISOR = 24;
const INTERVAL_BOUNDS = {
  profile: { minMs: HOUR_MS, maxMs: HOUR_MS },
  items: { minMs: 6 * HOUR_MS, maxMs: DAY_MS },
  counts: { minMs: HOUR_MS / 2, maxMs: 14 * DAY_MS },
} satisfies Record<TaskName, object>;
const GONE_INTERVAL_MAX_MS = 30 * DAY_MS;
/** The delay after the first failure; each further one doubles it. */
const RETRY_BASE_MS = 5 * MINUTE_MS;

/** @param ageMs The age of the item, or of a list's newest item; `Infinity` for none. */
export function computeIntervalMs(task: TaskName, ageMs: number): number {
  const { minMs, maxMs } = INTERVAL_BOUNDS[task];
  return Math.min(maxMs, Math.max(minMs, ageMs / AGE_DIVISOR));
}

/**
 * Ranges of age by which targets are counted to estimate their polls. The first ends where
 * intervals begin to grow, each further one at an age a tenth greater, and the last has no end.
 */
export const AGE_RANGES = Array.from(listAgeRanges());

function* listAgeRanges(): Generator<Readonly<Record<"from" | "to", number>>> {
  const { minMs, maxMs } = INTERVAL_BOUNDS.counts;
  let from = 0;
  for (let to = minMs * AGE_DIVISOR; to < maxMs * AGE_DIVISOR; to = Math.floor(to * 1.1)) {
    yield { from, to };
    from = to;
  }
  yield { from, to: Infinity };
}

/**
 * Spreads targets that were added together. At first a target is due anywhere within its interval;
 * later, its interval varies by up to a tenth. The same seed gives the same jitter.
 */
function spreadMs(everyMs: number, seed: string, isFirst: boolean): number {
  const jitter = Bun.hash.xxHash32(seed) / 2 ** 32;
  return Math.round(everyMs * (isFirst ? 0.1 + 0.9 * jitter : 0.9 + 0.2 * jitter));
}

interface TargetResult {
  failure?: string;
  isGone: boolean;
  sourceState?: SourceState;
  publishedAt?: number;
  itemCount?: number;
}

interface Schedule {
  readonly collector: Collector;
  readonly slowdownFactors: SlowdownFactors;
  readonly now: number;
}

/** Computes the update of a target; `undefined` if the source was not polled: it stays due. */
export function reschedule(
  schedule: Schedule,
  task: TaskName,
  target: DueTarget,
  result: TargetResult | undefined,
  sourceError?: SourceError,
): TargetUpdate | undefined {
  const { collector, slowdownFactors, now } = schedule;
  const { id } = target;
  const { kind, until, bucket } = sourceError ?? {};
  if (result === undefined && (kind === "rate-limited" || kind === "stop")) {
    // If another bucket than the task's own is paused, only this target waits: the other targets
    // may not need that bucket.
    const isOtherBucket = bucket !== collector.tasks[task].bucket;
    const isWaiting = kind === "rate-limited" && until !== undefined && isOtherBucket;
    return isWaiting ? { id, dueAt: until } : undefined;
  }
  const { failure, isGone, ...changes }: TargetResult = result ?? { isGone: false };
  const newestAt = Math.max(changes.publishedAt ?? -Infinity, target.publishedAt ?? -Infinity);
  if (changes.publishedAt !== undefined) changes.publishedAt = newestAt;
  const everyMs = computeIntervalMs(task, now - newestAt) * slowdownFactors[task];
  const dueAfter = (ms: number, isFirst = false) => now + spreadMs(ms, `${id} ${now}`, isFirst);
  // For a list, a missing result is no failure: there may be no new items.
  const missingReason = task === "items" ? undefined : "The source returned nothing for it";
  const reason = result === undefined ? (sourceError?.message ?? missingReason) : failure;
  if (reason === undefined) {
    const dueAt = dueAfter(everyMs, target.succeededAt === null);
    return { id, dueAt, succeededAt: now, ...changes };
  }
  const retryMs = retryIntervalMs(task, everyMs, isGone, target.failures);
  const reported = { at: now, reason: formatReason(reason) };
  return { id, dueAt: dueAfter(retryMs), failure: reported, ...changes };
}

/**
 * The wait after a failure: short at first, then doubled each time, up to the usual interval. A
 * watched channel or user that is gone is polled every day; a gone item more and more rarely.
 */
function retryIntervalMs(task: TaskName, everyMs: number, isGone: boolean, failures: number) {
  if (!isGone) return Math.min(everyMs, RETRY_BASE_MS * 2 ** failures);
  return task === "counts" ? Math.min(GONE_INTERVAL_MAX_MS, DAY_MS * 2 ** failures) : DAY_MS;
}

export function firstDueAt(
  { id, publishedAt }: DiscoveredItem,
  { now, slowdownFactors }: Omit<Schedule, "collector">,
): number {
  const everyMs = computeIntervalMs("counts", now - publishedAt) * slowdownFactors.counts;
  return now + spreadMs(everyMs, id, true);
}
