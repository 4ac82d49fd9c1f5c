/** One errand: a source is asked about some targets, what it tells is stored, and they are settled. */
import type { DueTarget, TaskName, DiscoveredItem } from "../ports/targets.ts";
import type { EntityKind, KIND_FIELDS } from "../../core/entity-kinds.ts";
import { LOOK_AHEAD_MS } from "./poll-schedule.ts";
import { SourceError, type PollResult, type ObservationRecord } from "./collector.ts";
import { firstDueAt, reschedule, type TargetResult, type RescheduleOptions } from "./reschedule.ts";
import type { CollectionState } from "../ports/collection.ts";
import type { ImportObservations } from "../ports/reads.ts";

/** What an errand is run with. */
export interface TaskOptions extends RescheduleOptions {
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
}

/** What became of an errand. */
export interface TaskResult {
  readonly observed: number;
  readonly failed: number;
  readonly observations: number;
  /** Why the source could not be asked any further. */
  readonly sourceError: SourceError | undefined;
  /** Why one of the targets failed that is not said to be gone, where there is one. */
  readonly warning: string | undefined;
}

/** Observations that are stored together at most. */
const STORE_BATCH_SIZE = 500;

/** Runs an errand for some targets that are due. */
export async function runTask(
  options: TaskOptions,
  task: TaskName,
  targets: readonly DueTarget[],
): Promise<TaskResult> {
  const { collector, context } = options;
  const targetResults = new Map<string, TargetResult>();
  let observations = 0;
  let pending: PollResult[] = [];
  const storePending = async () => {
    const pollResults = pending;
    pending = [];
    const isListing = task === "items";
    observations += await storeResults(options, pollResults, targetResults, isListing);
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
  // Of a list that was cut off it is not known what is missing.
  if (sourceError !== undefined && task === "items") {
    for (const [id, { failure: ownFailure }] of targetResults)
      if (ownFailure === undefined) targetResults.delete(id);
  }
  const updates = targets.flatMap((target) =>
    reschedule(options, task, target, targetResults.get(target.id), sourceError),
  );
  await options.state.saveResults(collector.platform, task, updates);
  const observed = updates.filter((one) => one.succeededAt !== undefined).length;
  const failed = updates.filter((one) => one.failure !== undefined).length;
  const failedResults = [...targetResults.values()].filter(({ isGone }) => !isGone);
  const warning = failedResults.find((one) => one.failure !== undefined)?.failure;
  return { observed, failed, observations, sourceError, warning };
}

/** Items that are targets already, by their identifiers. */
type KnownItems = ReadonlyMap<unknown, DueTarget>;

/** Stores what was found: first the observations, then what to ask for from now on. */
async function storeResults(
  options: TaskOptions,
  pollResults: readonly PollResult[],
  targetResults: Map<string, TargetResult>,
  isListing: boolean,
): Promise<number> {
  const { collector, context, state } = options;
  const knownItems: KnownItems = isListing ? await findKnownItems(options, pollResults) : new Map();
  const dueBefore = context.now() + LOOK_AHEAD_MS;
  const { lines, observedItems } = mergeResults(pollResults, targetResults, knownItems, dueBefore);
  await importLines(options, lines, targetResults);
  const now = context.now();
  const updates = observedItems.flatMap((item) =>
    reschedule(options, "counts", item, { isGone: false }, undefined),
  );
  for (const { target, items = [] } of pollResults) {
    if (items.length === 0) continue;
    recordNewestItem(targetResults.get(target), items);
    const slowdownFactor = options.slowdownFactorFor("counts");
    const due = items.map((item) =>
      Object.assign({ dueAt: firstDueAt(item, now, slowdownFactor) }, item),
    );
    await state.addItems(collector.platform, target, due);
    // What was thought to be gone and is listed without its counts is asked for them at once.
    const hasReturned = ({ id }: DiscoveredItem) => {
      const item = knownItems.get(id);
      const isLate = item !== undefined && item.failures > 0 && item.dueAt > now;
      return isLate && !observedItems.includes(item);
    };
    updates.push(...items.filter(hasReturned).map(({ id }) => ({ id, dueAt: now })));
  }
  if (updates.length > 0) await state.saveResults(collector.platform, "counts", updates);
  return lines.length;
}

/** An observation that is to be stored, and the target that it was told of. */
interface TargetLine {
  readonly target: string;
  readonly text: string;
}

/**
 * Notes what was told of targets.
 *
 * @param dueBefore What is listed again and again is observed only when it is due until then, or was
 * thought to be gone.
 * @returns The observations that are to be stored, and the listed items that some of them are of.
 */
function mergeResults(
  pollResults: readonly PollResult[],
  targetResults: Map<string, TargetResult>,
  knownItems: KnownItems,
  dueBefore: number,
): { readonly lines: readonly TargetLine[]; readonly observedItems: readonly DueTarget[] } {
  const lines: TargetLine[] = [];
  const alongside: DueTarget[] = [];
  for (const {
    target,
    sourceState: memo,
    failure,
    isGone = false,
    observations = [],
  } of pollResults) {
    const result: TargetResult = targetResults.get(target) ?? { isGone: false };
    if (memo !== undefined) result.sourceState = memo;
    if (failure !== undefined) result.failure = failure;
    result.isGone ||= isGone;
    targetResults.set(target, result);
    for (const observation of observations) {
      const item = knownItems.get(observation["id"]);
      if (item !== undefined && item.failures === 0 && item.dueAt > dueBefore) continue;
      if (item !== undefined) alongside.push(item);
      recordItemCount(result, observation);
      lines.push({ target, text: JSON.stringify(observation) });
    }
  }
  return { lines, observedItems: alongside };
}

/** Takes in observations; of a target whose own is rejected it is noted why. */
async function importLines(
  { importObservations }: TaskOptions,
  lines: readonly TargetLine[],
  targetResults: ReadonlyMap<string, TargetResult>,
): Promise<void> {
  if (lines.length === 0) return;
  const text = lines.map((line) => line.text).join("\n");
  const { rejected } = await importObservations(new TextEncoder().encode(text));
  for (const { line, reason } of rejected) {
    const result = targetResults.get(lines[line - 1]?.target ?? "");
    if (result !== undefined) result.failure = reason;
  }
}

/** The items among what was found that are targets already, by their identifiers. */
async function findKnownItems(
  { collector, state }: TaskOptions,
  pollResults: readonly PollResult[],
): Promise<KnownItems> {
  const ids = new Set(
    pollResults.flatMap(({ observations = [], items = [] }) => [
      ...observations.map((observation) => String(observation["id"])),
      ...items.map(({ id }) => id),
    ]),
  );
  if (ids.size === 0) return new Map();
  const knownItems = await state.listItemTargets(collector.platform, Array.from(ids));
  return new Map(knownItems.map((item) => [item.id, item]));
}

function recordItemCount(result: TargetResult, observation: ObservationRecord): void {
  const count = observation[ITEM_COUNT_FIELDS[observation.kind] ?? ""];
  if (typeof count === "number") result.itemCount = count;
}

/** The count of an observation that says how many items its entity has. */
const ITEM_COUNT_FIELDS: {
  readonly [Of in EntityKind]?: (typeof KIND_FIELDS)[Of]["counts"][number];
} = {
  channel: "videoCount",
  user: "tweet_count",
};

function recordNewestItem(
  result: TargetResult | undefined,
  items: readonly DiscoveredItem[],
): void {
  if (result === undefined) return;
  for (const { publishedAt } of items) {
    result.newestItemAt = Math.max(publishedAt, result.newestItemAt ?? publishedAt);
  }
}
