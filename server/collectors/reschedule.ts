/** What becomes of a target that a source was asked about: when it is due next, and why it failed. */
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
import {
  formatReason,
  type Collector,
  type PollResult,
  type SourceError,
  type CollectorContext,
} from "./collector.ts";

/** What targets are settled with. */
export interface RescheduleOptions {
  readonly collector: Collector;
  readonly context: CollectorContext;
  /** By how much the intervals of an errand are stretched so that the quota reaches. */
  slowdownFactorFor(errand: TaskName): number;
}

/** What was told of a target so far. */
export interface TargetResult {
  sourceState?: PollResult["sourceState"];
  failure?: string;
  isGone: boolean;
  /** When the newest item of its list was published. */
  newestItemAt?: number;
  /** How many items it has. */
  itemCount?: number;
}

/** What becomes of a target; nothing where the source could not be asked about it at all. */
export function reschedule(
  { collector, context, slowdownFactorFor }: RescheduleOptions,
  task: TaskName,
  target: DueTarget,
  result: TargetResult | undefined,
  sourceError: SourceError | undefined,
): TargetUpdate[] {
  if (result === undefined && isPausedOrStopped(sourceError)) {
    const { until, bucket } = sourceError;
    const isOtherBucket = bucket !== collector.tasks[task].bucket;
    // What it needs besides is waited for by it alone: the others of the errand may not need that.
    return sourceError.kind === "wait" && until !== undefined && isOtherBucket
      ? [{ id: target.id, dueAt: until }]
      : [];
  }
  const now = context.now();
  const chance = computeJitter(`${target.id} ${now}`);
  const newestAt = Math.max(result?.newestItemAt ?? -Infinity, target.publishedAt ?? -Infinity);
  const everyMs = pollIntervalMs(task, now - newestAt) * slowdownFactorFor(task);
  const reason = result?.failure ?? explainMissingResult(task, result, sourceError);
  const changes: Partial<TargetUpdate> = {
    ...(result?.sourceState === undefined ? {} : { sourceState: result.sourceState }),
    ...(result?.newestItemAt === undefined ? {} : { publishedAt: newestAt }),
    ...(result?.itemCount === undefined ? {} : { itemCount: result.itemCount }),
  };
  if (reason === undefined) {
    const isFirst = target.succeededAt === null;
    const dueAt = computeNextDueAt({ now, everyMs, isFirst, chance });
    return [{ id: target.id, dueAt, succeededAt: now, ...changes }];
  }
  const failures = target.failures + 1;
  const dueAt =
    result?.isGone === true
      ? computeNextDueAt({ now, everyMs: goneIntervalMs(task, failures), isFirst: false, chance })
      : computeRetryDueAt({ now, everyMs, failures, chance });
  return [{ id: target.id, dueAt, failure: { at: now, reason: formatReason(reason) }, ...changes }];
}

/** Whether nothing more is asked of a source, now or for good. */
function isPausedOrStopped(sourceError: SourceError | undefined): sourceError is SourceError {
  return sourceError?.kind === "wait" || sourceError?.kind === "stop";
}

/** Who is watched is asked for every day; an item is more and more seldom. */
function goneIntervalMs(task: TaskName, failures: number): number {
  return task === "counts" ? computeGoneItemIntervalMs(failures) : DAY_MS;
}

/** Why a target failed of which the source told nothing; a list may well have nothing new. */
function explainMissingResult(
  task: TaskName,
  result: TargetResult | undefined,
  sourceError: SourceError | undefined,
): string | undefined {
  if (result !== undefined) return undefined;
  if (sourceError !== undefined) return sourceError.message;
  return task === "items" ? undefined : "The source told nothing of it";
}

/** @param ageMs Milliseconds since the item, or the newest of a list, was published. */
function pollIntervalMs(task: TaskName, ageMs: number): number {
  if (task === "profile") return PROFILE_INTERVAL_MS;
  return task === "items" ? computeListIntervalMs(ageMs) : computeItemIntervalMs(ageMs);
}

/**
 * When an item that was found is due for the first time.
 *
 * @param slowdownFactor By how much the intervals of items are stretched.
 */
export function firstDueAt(
  { id, publishedAt }: { readonly id: string; readonly publishedAt: number },
  now: number,
  slowdownFactor: number,
): number {
  const everyMs = computeItemIntervalMs(now - publishedAt) * slowdownFactor;
  return computeNextDueAt({ now, everyMs, isFirst: true, chance: computeJitter(id) });
}
