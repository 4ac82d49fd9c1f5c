/** Runs one task: polls a batch of targets, stores the results, and reschedules the targets. */
import type { ImportObservations } from "../../core/stores.ts";
import type { CollectionState } from "../store/collection/collection-state.ts";
import type { TargetUpdate } from "../store/collection/targets.ts";
import {
  SourceError,
  type Collector,
  type CollectorContext,
  type PollResult,
  type DueTarget,
  type TaskName,
} from "./collector.ts";
import { firstDueAt, LOOK_AHEAD_MS, reschedule, type SlowdownFactors } from "./poll-schedule.ts";

type TargetResult = NonNullable<Parameters<typeof reschedule>[3]>;

interface TaskOptions {
  readonly collector: Collector;
  readonly context: CollectorContext;
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
  readonly slowdownFactors: SlowdownFactors;
}

/** The most results that are stored together. */
const STORE_BATCH_SIZE = 500;

export async function runTask(options: TaskOptions, task: TaskName, targets: readonly DueTarget[]) {
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
    /** Why one of the targets failed, other than by being gone. */
    warning: targetResults.values().find(({ failure, isGone }) => failure !== undefined && !isGone)
      ?.failure,
  };
}

/** Stores the observations, then the new items. @returns How many observations there were. */
async function storeResults(
  options: TaskOptions,
  task: TaskName,
  pollResults: readonly PollResult[],
  targetResults: Map<string, TargetResult>,
): Promise<number> {
  const { collector, context, state } = options;
  const { platform } = collector.source;
  const listedIds = pollResults.flatMap(({ observations = [], items = [] }) => [
    ...observations.map(({ id }) => String(id)),
    ...items.map(({ id }) => id),
  ]);
  const knownItems = await context.findKnownItems(task === "items" ? listedIds : []);
  const dueBefore = context.now() + LOOK_AHEAD_MS;
  // A known item in a list is observed only if it is due or seemed gone.
  const isWanted = (id: string) => {
    const item = knownItems.get(id);
    return item === undefined || item.failures > 0 || item.dueAt <= dueBefore;
  };
  const wanted = mergeResults(pollResults, targetResults, isWanted);
  const observedItems = new Set(
    wanted.flatMap(({ observation: { id } }) => knownItems.get(String(id)) ?? []),
  );
  await storeObservations(options, wanted);
  const schedule = { ...options, now: context.now() };
  const updates: TargetUpdate[] = Array.from(observedItems, (item) =>
    reschedule(schedule, "counts", item, { isGone: false }),
  ).filter((update) => update !== undefined);
  for (const { targetId, items = [] } of pollResults) {
    if (items.length === 0) continue;
    const newestAt = Math.max(...items.map(({ publishedAt }) => publishedAt));
    const result = targetResults.get(targetId);
    if (result !== undefined)
      result.publishedAt = Math.max(newestAt, result.publishedAt ?? newestAt);
    const due = items.map((item) => ({ dueAt: firstDueAt(item, schedule), ...item }));
    await state.addItems(platform, targetId, due);
    // An item that seemed gone and is listed again without counts is polled at once.
    for (const { id } of items) {
      const item = knownItems.get(id);
      if (item === undefined || item.failures === 0 || observedItems.has(item)) continue;
      if (item.dueAt > schedule.now) updates.push({ id, dueAt: schedule.now });
    }
  }
  if (updates.length > 0) await state.saveResults(platform, "counts", updates);
  return wanted.length;
}

/** Merges poll results into the results of their targets. @returns The observations to store. */
function mergeResults(
  pollResults: readonly PollResult[],
  targetResults: Map<string, TargetResult>,
  isWanted: (id: string) => boolean,
) {
  return pollResults.flatMap(
    ({ targetId, sourceState, failure, isGone = false, observations = [] }) => {
      const result: TargetResult = targetResults.get(targetId) ?? { isGone: false };
      if (sourceState !== undefined) result.sourceState = sourceState;
      if (failure !== undefined) result.failure = failure;
      result.isGone ||= isGone;
      targetResults.set(targetId, result);
      const wanted = observations.filter(({ id }) => isWanted(String(id)));
      for (const { videoCount, tweet_count: itemCount = videoCount } of wanted) {
        if (typeof itemCount === "number") result.itemCount = itemCount;
      }
      return wanted.map((observation) => ({ observation, result }));
    },
  );
}

async function storeObservations(
  { importObservations }: TaskOptions,
  wanted: ReturnType<typeof mergeResults>,
): Promise<void> {
  if (wanted.length === 0) return;
  const lines = wanted.map(({ observation }) => JSON.stringify(observation));
  const { rejected } = await importObservations(new TextEncoder().encode(lines.join("\n")));
  for (const { line, reason } of rejected) {
    const { result } = wanted[line - 1] ?? {};
    if (result !== undefined) result.failure = reason;
  }
}
