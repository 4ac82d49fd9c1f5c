/**
 * Creates the tasks of sources. A task polls targets in batches or one by one, or a list newest
 * first. It tells the failure of a target from that of the source.
 */
import {
  isNotFound,
  SourceError,
  type CollectorContext,
  type PollBatch,
  type PollResult,
  type SourceTask,
} from "./collector.ts";
import { createGoneResult } from "./poll-results.ts";
import type { CollectionTarget, DiscoveredItem } from "./targets.ts";

/**
 * Creates a task that polls targets in batches.
 *
 * @param explainInvalid Says why an identifier is invalid, for a source that refuses a whole request
 * for one of them. Such a target is not gone: another source may know it, and be configured next.
 */
export function createBatchTask(
  bucket: string,
  batchSize: number,
  poll: PollBatch,
  explainInvalid: (id: string) => string | undefined = () => undefined,
): SourceTask {
  return {
    bucket,
    batchSize,
    async *poll(targets, context) {
      const valid: CollectionTarget[] = [];
      for (const target of targets) {
        const failure = explainInvalid(target.id);
        if (failure === undefined) valid.push(target);
        else yield { targetId: target.id, failure };
      }
      yield* pollBatch(valid, context, poll);
    },
  };
}

export function createListTask(
  bucket: string,
  poll: (target: CollectionTarget, context: CollectorContext) => AsyncIterable<PollResult>,
): SourceTask {
  return {
    bucket,
    batchSize: 1,
    poll: (targets, context) => pollOneByOne(targets, (target) => poll(target, context)),
  };
}

/**
 * Polls targets with one request. If the source says that something in the batch does not exist,
 * each half is polled, until the missing target is alone.
 */
export async function* pollBatch(
  targets: readonly CollectionTarget[],
  context: CollectorContext,
  poll: PollBatch,
): AsyncGenerator<PollResult> {
  const [first, second] = targets;
  if (first === undefined) return;
  try {
    yield* await poll(targets, context);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (second === undefined) {
      yield createGoneResult(first.id, error.message);
      return;
    }
    const middle = Math.ceil(targets.length / 2);
    yield* pollBatch(targets.slice(0, middle), context, poll);
    yield* pollBatch(targets.slice(middle), context, poll);
  }
}

/** If all of the first few targets fail, the source fails, and not the targets. */
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
      if (isNotFound(error)) {
        yield createGoneResult(target.id, error.message);
        continue;
      }
      failedResults.push({ targetId: target.id, failure: error.message });
      const limit = Math.min(targets.length, LEADING_FAILURES_MAX);
      if (!isAnswering && failedResults.length >= limit) throw error;
    }
  }
  yield* failedResults;
}

/** A page of a list: items, and their observations now. */
export interface ListPage {
  readonly entries: readonly { readonly result?: PollResult; readonly item?: DiscoveredItem }[];
  /** Why some of the page could not be read. */
  readonly warning: string | undefined;
  /** Whether the page has items and all were found before. */
  readonly isKnown: boolean;
  readonly nextCursor: string | undefined;
}

/**
 * Reads a list, newest first, until a page is known. The items are yielded together at the end:
 * otherwise an interrupted list would leave a gap behind items that are known.
 */
export async function* pollNewestFirst(
  targetId: string,
  maxPages: number,
  fetchPage: (cursor: string | undefined) => Promise<ListPage>,
): AsyncGenerator<PollResult> {
  const items = new Map<string, DiscoveredItem>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { entries, warning, isKnown, nextCursor } = await fetchPage(cursor);
    if (warning !== undefined) yield { targetId, failure: warning };
    for (const { result, item } of entries) {
      if (result !== undefined) yield result;
      // An invalid item stays unknown: it is observed again the next time.
      if (item !== undefined && result?.failure === undefined) items.set(item.id, item);
    }
    cursor = nextCursor;
    if (!cursor || isKnown) break;
  }
  yield { targetId, items: Array.from(items.values()) };
}
