/** Decides when a target is polled again after a poll, and why it failed if it did. */
import type { DueTarget, SourceState, TaskName, TargetUpdate } from "../ports/targets.ts";
import {
  computeJitter,
  computeRetryDueAt,
  computeItemIntervalMs,
  computeGoneItemIntervalMs,
  computeListIntervalMs,
  computeNextDueAt,
  PROFILE_INTERVAL_MS,
} from "./poll-schedule.ts";
import { DAY_MS } from "../../core/time.ts";
import { formatReason, type Collector, type SourceError } from "./collector.ts";
import type { SlowdownFactors } from "./quota-budget.ts";

/** The results of a target, merged, and what they change of it. */
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
 * @param sourceError What ended the task early.
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
  const reason = failure ?? explainMissingResult(task, result, sourceError);
  if (reason === undefined) {
    const isFirst = target.succeededAt === null;
    const dueAt = computeNextDueAt({ now, everyMs, isFirst, chance });
    return { id, dueAt, succeededAt: now, ...changes };
  }
  const failures = target.failures + 1;
  // A channel or user on the lists is polled every day; a gone item more and more rarely.
  const goneIntervalMs = task === "counts" ? computeGoneItemIntervalMs(failures) : DAY_MS;
  const dueAt = isGone
    ? computeNextDueAt({ now, everyMs: goneIntervalMs, isFirst: false, chance })
    : computeRetryDueAt({ now, everyMs, failures, chance });
  return { id, dueAt, failure: { at: now, reason: formatReason(reason) }, ...changes };
}

/** Of a list, no result is no failure: it may have no new items. */
function explainMissingResult(
  task: TaskName,
  result: TargetResult | undefined,
  sourceError: SourceError | undefined,
): string | undefined {
  if (result !== undefined) return undefined;
  if (sourceError !== undefined) return sourceError.message;
  return task === "items" ? undefined : "The source returned nothing for it";
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
