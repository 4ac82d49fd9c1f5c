/** Decides when a target is polled again after a poll, and why it failed if it did. */
import type { DueTarget, TaskName, TargetUpdate } from "../ports/targets.ts";
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
import { formatReason, type Collector, type PollResult, type SourceError } from "./collector.ts";
import type { SlowdownFactors } from "./quota-budget.ts";

/** The results of a target, merged. */
export interface TargetResult {
  sourceState?: PollResult["sourceState"];
  failure?: string;
  isGone: boolean;
  /** When the newest item of the list was published, in milliseconds since 1970 UTC. */
  newestItemAt?: number;
  /** How many items the channel or user has. */
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
  {
    collector,
    slowdownFactors,
    now,
  }: {
    readonly collector: Collector;
    readonly slowdownFactors: SlowdownFactors;
    readonly now: number;
  },
  task: TaskName,
  target: DueTarget,
  result: TargetResult | undefined,
  sourceError?: SourceError,
): TargetUpdate | undefined {
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
  const newestAt = Math.max(result?.newestItemAt ?? -Infinity, target.publishedAt ?? -Infinity);
  const everyMs = pollIntervalMs(task, now - newestAt) * slowdownFactors[task];
  const reason = result?.failure ?? explainMissingResult(task, result, sourceError);
  const changes: Partial<TargetUpdate> = {
    ...(result?.sourceState === undefined ? {} : { sourceState: result.sourceState }),
    ...(result?.newestItemAt === undefined ? {} : { publishedAt: newestAt }),
    ...(result?.itemCount === undefined ? {} : { itemCount: result.itemCount }),
  };
  if (reason === undefined) {
    const isFirst = target.succeededAt === null;
    const dueAt = computeNextDueAt({ now, everyMs, isFirst, chance });
    return { id, dueAt, succeededAt: now, ...changes };
  }
  const failures = target.failures + 1;
  const dueAt =
    result?.isGone === true
      ? computeNextDueAt({ now, everyMs: goneIntervalMs(task, failures), isFirst: false, chance })
      : computeRetryDueAt({ now, everyMs, failures, chance });
  return { id, dueAt, failure: { at: now, reason: formatReason(reason) }, ...changes };
}

/** A channel or user on the lists is polled every day; a gone item more and more rarely. */
function goneIntervalMs(task: TaskName, failures: number): number {
  return task === "counts" ? computeGoneItemIntervalMs(failures) : DAY_MS;
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
