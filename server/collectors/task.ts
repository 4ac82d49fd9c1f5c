/** Runs one task: polls a batch of targets, stores the results, and reschedules the targets. */
import type { DueTarget, TaskName, DiscoveredItem } from "./targets.ts";
import type { TargetUpdate } from "../store/collection/targets.ts";
import type { CollectionState } from "../store/collection/collection-state.ts";
import type { ImportObservations } from "../../core/stores.ts";
import {
  SourceError,
  type Collector,
  type CollectorContext,
  type ObservationRecord,
  type PollResult,
} from "./collector.ts";
import {
  firstDueAt,
  LOOK_AHEAD_MS,
  reschedule,
  type SlowdownFactors,
  type TargetResult,
} from "./poll-schedule.ts";

interface TaskOptions {
  readonly collector: Collector;
  readonly context: CollectorContext;
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
  readonly slowdownFactors: SlowdownFactors;
}

export interface TaskResult {
  /** How many targets were observed, and how many failed. */
  readonly observed: number;
  readonly failed: number;
  readonly observations: number;
  /** The error that ended the task early. */
  readonly sourceError: SourceError | undefined;
  /** Why one of the targets failed, other than by being gone. */
  readonly warning: string | undefined;
}

/** Results that are stored together, at most. */
const STORE_BATCH_SIZE = 500;

/** Runs a task for a batch of due targets. */
export async function runTask(
  options: TaskOptions,
  task: TaskName,
  targets: readonly DueTarget[],
): Promise<TaskResult> {
  const { collector, context, state } = options;
  const targetResults = new Map<string, TargetResult>();
  let observations = 0;
  let pending: PollResult[] = [];
  const storePending = async () => {
    const pollResults = pending;
    pending = [];
    observations += await storeResults(options, task, pollResults, targetResults);
  };
  let sourceError: SourceError | undefined;
  try {
    for await (const pollResult of collector.tasks[task].poll(targets, context)) {
      pending.push(pollResult);
      if (pending.length >= STORE_BATCH_SIZE) await storePending();
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    sourceError = error;
  }
  await storePending();
  // An interrupted list counts as not read: its rest is unknown.
  if (sourceError !== undefined && task === "items") {
    for (const [id, { failure }] of targetResults)
      if (failure === undefined) targetResults.delete(id);
  }
  const schedule = { ...options, now: context.now() };
  const updates = targets
    .map((target) => reschedule(schedule, task, target, targetResults.get(target.id), sourceError))
    .filter((update) => update !== undefined);
  await state.saveResults(collector.source.platform, task, updates);
  return {
    observed: updates.filter(({ succeededAt }) => succeededAt !== undefined).length,
    failed: updates.filter(({ failure }) => failure !== undefined).length,
    observations,
    sourceError,
    warning: targetResults.values().find(({ failure, isGone }) => failure !== undefined && !isGone)
      ?.failure,
  };
}

/**
 * Stores the observations, then the new items.
 *
 * @param targetResults Receives the results.
 * @returns How many observations there were.
 */
async function storeResults(
  options: TaskOptions,
  task: TaskName,
  pollResults: readonly PollResult[],
  targetResults: Map<string, TargetResult>,
): Promise<number> {
  const { collector, context, state, slowdownFactors } = options;
  const knownItems = await context.findKnownItems(task === "items" ? readItemIds(pollResults) : []);
  const dueBefore = context.now() + LOOK_AHEAD_MS;
  const { targetObservations, observedItems } = mergeResults(
    pollResults,
    targetResults,
    knownItems,
    dueBefore,
  );
  await storeObservations(options, targetObservations);
  const now = context.now();
  const updates: TargetUpdate[] = observedItems
    .map((item) => reschedule({ ...options, now }, "counts", item, { isGone: false }))
    .filter((update) => update !== undefined);
  for (const { targetId, items = [] } of pollResults) {
    if (items.length === 0) continue;
    const newestAt = Math.max(...items.map(({ publishedAt }) => publishedAt));
    const result = targetResults.get(targetId);
    if (result !== undefined)
      result.publishedAt = Math.max(newestAt, result.publishedAt ?? newestAt);
    const due = items.map((item) => ({ dueAt: firstDueAt(item, now, slowdownFactors), ...item }));
    await state.addItems(collector.source.platform, targetId, due);
    // An item that seemed gone and is listed again without counts is polled at once.
    const hasReturned = ({ id }: DiscoveredItem) => {
      const item = knownItems.get(id);
      const isLate = item !== undefined && item.failures > 0 && item.dueAt > now;
      return isLate && !observedItems.includes(item);
    };
    updates.push(...items.filter(hasReturned).map(({ id }) => ({ id, dueAt: now })));
  }
  if (updates.length > 0) await state.saveResults(collector.source.platform, "counts", updates);
  return targetObservations.length;
}

function readItemIds(pollResults: readonly PollResult[]): string[] {
  return pollResults.flatMap(({ observations = [], items = [] }) => [
    ...observations.map((observation) => String(observation["id"])),
    ...items.map(({ id }) => id),
  ]);
}

/** An observation to store, and the result of its target. */
interface TargetObservation {
  readonly observation: ObservationRecord;
  readonly result: TargetResult;
}

/**
 * Merges the results into those of their targets.
 *
 * @param knownItems The items of a list that are targets of `counts` already.
 * @param dueBefore A known item in a list is observed only if it is due before this, or seemed gone.
 * @returns The observations to store, and the known items that they are of.
 */
function mergeResults(
  pollResults: readonly PollResult[],
  targetResults: Map<string, TargetResult>,
  knownItems: ReadonlyMap<string, DueTarget>,
  dueBefore: number,
) {
  const targetObservations: TargetObservation[] = [];
  const observedItems: DueTarget[] = [];
  for (const { targetId, sourceState, failure, isGone = false, observations = [] } of pollResults) {
    const result: TargetResult = targetResults.get(targetId) ?? { isGone: false };
    if (sourceState !== undefined) result.sourceState = sourceState;
    if (failure !== undefined) result.failure = failure;
    result.isGone ||= isGone;
    targetResults.set(targetId, result);
    for (const observation of observations) {
      const item = knownItems.get(String(observation["id"]));
      if (item !== undefined && item.failures === 0 && item.dueAt > dueBefore) continue;
      if (item !== undefined) observedItems.push(item);
      // A channel or a user says how many items it has.
      const itemCount = observation["videoCount"] ?? observation["tweet_count"];
      if (typeof itemCount === "number") result.itemCount = itemCount;
      targetObservations.push({ observation, result });
    }
  }
  return { targetObservations, observedItems };
}

/** Stores observations; a rejected one is a failure of its target. */
async function storeObservations(
  { importObservations }: TaskOptions,
  targetObservations: readonly TargetObservation[],
): Promise<void> {
  if (targetObservations.length === 0) return;
  const lines = targetObservations.map(({ observation }) => JSON.stringify(observation));
  const { rejected } = await importObservations(new TextEncoder().encode(lines.join("\n")));
  for (const { line, reason } of rejected) {
    const { result } = targetObservations[line - 1] ?? {};
    if (result !== undefined) result.failure = reason;
  }
}
