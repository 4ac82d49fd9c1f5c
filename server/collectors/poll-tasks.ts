/**
 * Creates the tasks of collectors, which poll in batches, one by one or page by page. Tells a
 * failure of a target from a failure of its source, and creates observations.
 */
import { DomainError } from "../../core/errors.ts";
import { ENTITY_FIELDS, type EntityKind } from "../../core/kinds.ts";
import { parseObservation } from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import {
  isNotFound,
  SourceError,
  type CollectorContext,
  type Collector,
  type PollResult,
  type CollectionTarget,
  type DiscoveredItem,
  type TaskName,
} from "./collector.ts";

type SourceTask = Collector["tasks"][TaskName];

/** Polls targets with one request. @returns Reads a target's result, or throws why it failed. */
export type PollBatch = (
  batch: readonly CollectionTarget[],
  context: CollectorContext,
) => Promise<(target: CollectionTarget) => Omit<PollResult, "targetId">>;

/**
 * Says why an identifier is invalid, for a source where one of them fails the whole request. The
 * target is not gone: another source may know it, and be configured next.
 */
type ExplainInvalid = (id: string) => string | undefined;

export const createBatchTask = (
  bucket: string,
  batchSize: number,
  poll: PollBatch,
  explainInvalid?: ExplainInvalid,
): SourceTask => ({
  bucket,
  batchSize,
  async *poll(targets, context) {
    yield* pollBatch(yield* rejectInvalid(targets, explainInvalid), context, poll);
  },
});

export const createListTask = (
  bucket: string,
  poll: (target: CollectionTarget, context: CollectorContext) => AsyncIterable<PollResult>,
  explainInvalid?: ExplainInvalid,
): SourceTask => ({
  bucket,
  batchSize: 1,
  async *poll(targets, context) {
    const valid = yield* rejectInvalid(targets, explainInvalid);
    yield* pollOneByOne(valid, (target) => poll(target, context));
  },
});

/** Yields the results of the invalid targets. @returns The valid targets. */
function* rejectInvalid(
  targets: readonly CollectionTarget[],
  explainInvalid: ExplainInvalid = () => undefined,
): Generator<PollResult, CollectionTarget[]> {
  const valid: CollectionTarget[] = [];
  for (const target of targets) {
    const failure = explainInvalid(target.id);
    if (failure === undefined) valid.push(target);
    else yield { targetId: target.id, failure };
  }
  return valid;
}

/** Polls a batch in one request; after `not-found`, halves it until the missing target is alone. */
export async function* pollBatch(
  targets: readonly CollectionTarget[],
  context: CollectorContext,
  poll: PollBatch,
): AsyncGenerator<PollResult> {
  const [first, second] = targets;
  if (first === undefined) return;
  try {
    const readResult = await poll(targets, context);
    yield* targets.map((target) => createPollResult(target.id, () => readResult(target)));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (second === undefined) {
      yield createFailure(first.id, error);
      return;
    }
    const middle = Math.ceil(targets.length / 2);
    yield* pollBatch(targets.slice(0, middle), context, poll);
    yield* pollBatch(targets.slice(middle), context, poll);
  }
}

/** If this many first targets all fail, the source has failed, and not the targets. */
const LEADING_FAILURES_MAX = 3;

/** Polls targets one by one; the failure of one does not end the task for the others. */
export async function* pollOneByOne(
  targets: readonly CollectionTarget[],
  poll: (target: CollectionTarget) => AsyncIterable<PollResult>,
): AsyncGenerator<PollResult> {
  const failedResults: PollResult[] = [];
  let isAnswering = false;
  for (const target of targets) {
    try {
      yield* poll(target);
      isAnswering = true;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === "rate-limited" || error.kind === "stop") throw error;
      isAnswering ||= error.kind !== "failed";
      const result = createFailure(target.id, error);
      if (result.isGone === true) {
        yield result;
        continue;
      }
      failedResults.push(result);
      const limit = Math.min(targets.length, LEADING_FAILURES_MAX);
      if (!isAnswering && failedResults.length >= limit) throw error;
    }
  }
  yield* failedResults;
}

interface ListPage {
  readonly results: readonly PollResult[];
  readonly warning: string | undefined;
  /** Whether the page has items and all were found before. */
  readonly isKnown: boolean;
  readonly nextCursor: string | undefined;
}

/** Reads pages until all items of one are known. Yields items at the end: no stop leaves a gap. */
export async function* pollNewestFirst(
  targetId: string,
  maxPages: number,
  fetchPage: (cursor: string | undefined) => Promise<ListPage>,
): AsyncGenerator<PollResult> {
  const items = new Map<string, DiscoveredItem>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { results, warning, isKnown, nextCursor } = await fetchPage(cursor);
    if (warning !== undefined) yield { targetId, failure: warning };
    for (const { items: found = [], ...result } of results) {
      yield result;
      for (const item of found) items.set(item.id, item);
    }
    cursor = nextCursor;
    if (!cursor || isKnown) break;
  }
  yield { targetId, items: Array.from(items.values()) };
}

/** Creates the result of a target. If `read()` throws, it is a failure and adds no item. */
export function createPollResult(
  targetId: string,
  read: () => Omit<PollResult, "targetId">,
): PollResult {
  try {
    return { targetId, ...read() };
  } catch (error) {
    if (error instanceof SourceError) return createFailure(targetId, error);
    if (error instanceof DomainError) return { targetId, failure: error.message };
    throw error;
  }
}

const createFailure = (targetId: string, error: SourceError): PollResult => ({
  targetId,
  failure: error.message,
  ...(isNotFound(error) && { isGone: true }),
});

export function throwFailure(reason: string): never {
  throw new SourceError("rejected", reason);
}

/** Throws why a target is missing: it is gone or, if there is a warning, perhaps malformed. */
export function throwMissing(reason: string, warning?: string): never {
  throw warning === undefined
    ? new SourceError("not-found", reason)
    : new SourceError("rejected", warning);
}

/**
 * Creates an observation of an entity now. A count of `null` is known to be hidden.
 *
 * @param missingCountsReason The failure if all counts are missing, for a source that always has
 * some: it must have renamed its fields, and not hidden the counts.
 * @throws {DomainError} The observation is invalid.
 */
export function observe(
  { now }: CollectorContext,
  kind: EntityKind,
  fields: Readonly<Record<string, unknown>>,
  missingCountsReason?: string,
) {
  const hasCounts = ENTITY_FIELDS[kind].counts.some((name) => (fields[name] ?? null) !== null);
  if (!hasCounts && missingCountsReason !== undefined) throwFailure(missingCountsReason);
  const observedAt = now();
  const record = { kind, observedAt: formatInstant(observedAt), ...fields };
  parseObservation(record, observedAt);
  return { observations: [record] };
}
