/** How collectors go through their targets, and tell what they found. */
import type { CollectionTarget } from "../ports/targets.ts";
import { DomainError } from "../../core/errors.ts";
import { KIND_FIELDS } from "../../core/entity-kinds.ts";
import { parseObservation } from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import {
  NotFoundError,
  SourceError,
  type Collector,
  type PollResult,
  type ObservationRecord,
  type CollectorContext,
} from "./collector.ts";

/**
 * An observation, without what was not told.
 *
 * @param observedAt When it was observed, in milliseconds since 1970 UTC.
 * @param fields `undefined` is not told; a count of `null` is told to be unknown.
 */
export function createObservationRecord(
  kind: ObservationRecord["kind"],
  observedAt: number,
  fields: Readonly<Record<string, unknown>>,
): ObservationRecord {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { kind, observedAt: formatInstant(observedAt), ...Object.fromEntries(present) };
}

/** Why an observation is not stored; `undefined` where it is. */
export function explainRejection(record: ObservationRecord, now: number): string | undefined {
  try {
    parseObservation(record, now);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

/** The finding of one observation of a target: it, or why it cannot be believed. */
export function createPollResult(
  target: string,
  record: ObservationRecord,
  now: number,
  extra: Pick<PollResult, "sourceState"> = {},
): PollResult {
  const failure = explainRejection(record, now);
  return failure === undefined ? { target, observations: [record], ...extra } : { target, failure };
}

/**
 * The same, of a source that tells some count of everything: where it tells none, its counts have
 * other names by now, and are not unknown.
 *
 * @param missingCountsReason Why such a one cannot be believed.
 */
export function createCountedResult(
  target: string,
  record: ObservationRecord,
  now: number,
  missingCountsReason: string,
  extra: Pick<PollResult, "sourceState"> = {},
): PollResult {
  const hasCounts = KIND_FIELDS[record.kind].counts.some((name) => (record[name] ?? null) !== null);
  return hasCounts
    ? createPollResult(target, record, now, extra)
    : { target, failure: missingCountsReason };
}

/** The finding of a target that is not there. */
export function createGoneResult(target: string, failure: string): PollResult {
  return { target, failure, isGone: true };
}

/**
 * Goes through targets that are asked about together. Where the source says of a batch that it is
 * not there, its halves are asked about, until who is missing is alone.
 *
 * @param poll Asks before it tells.
 */
export async function* pollInBatches(
  targets: readonly CollectionTarget[],
  size: number,
  poll: (batch: readonly CollectionTarget[]) => AsyncIterable<PollResult>,
): AsyncGenerator<PollResult> {
  const queue: (readonly CollectionTarget[])[] = [];
  for (let from = 0; from < targets.length; from += size) {
    queue.push(targets.slice(from, from + size));
  }
  for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
    const [first] = batch;
    try {
      yield* poll(batch);
    } catch (error) {
      if (!(error instanceof NotFoundError) || first === undefined) throw error;
      const half = Math.ceil(batch.length / 2);
      if (batch.length === 1) yield createGoneResult(first.id, error.message);
      else queue.unshift(batch.slice(0, half), batch.slice(half));
    }
  }
}

/** What a source is asked with for each errand: of which bucket, and by which function. */
export interface TaskDefinitions {
  /** How many targets of `profile` and of `counts` it takes at once; lists are read one by one. */
  readonly batchSize: number;
  readonly profile: readonly [bucket: string, tell: PollProfiles];
  readonly items: readonly [bucket: string, tell: PollFunction<CollectionTarget>];
  readonly counts: readonly [bucket: string, tell: PollFunction<readonly CollectionTarget[]>];
}

type PollProfiles = (
  targets: readonly CollectionTarget[],
  batch: number,
  surroundings: CollectorContext,
) => AsyncIterable<PollResult>;

type PollFunction<Asked> = (
  asked: Asked,
  surroundings: CollectorContext,
) => AsyncIterable<PollResult>;

/** The errands of a source, as the port has them. */
export function createTasks({
  batchSize,
  profile,
  items,
  counts,
}: TaskDefinitions): Collector["tasks"] {
  const [profileBucket, pollProfiles] = profile;
  const [itemsBucket, pollItems] = items;
  const [countsBucket, pollCounts] = counts;
  return {
    profile: {
      batchSize,
      bucket: profileBucket,
      poll: (targets, surroundings) => pollProfiles(targets, batchSize, surroundings),
    },
    items: {
      batchSize: 1,
      bucket: itemsBucket,
      poll: (targets, surroundings) =>
        pollOneByOne(targets, (target) => pollItems(target, surroundings)),
    },
    counts: {
      batchSize,
      bucket: countsBucket,
      poll: (targets, surroundings) =>
        pollInBatches(targets, batchSize, (part) => pollCounts(part, surroundings)),
    },
  };
}

/** How many failures in a row, from the first target on, are a failure of the source. */
const MAX_LEADING_FAILURES = 3;

/**
 * Goes through targets one by one: where one is not there, or the source fails about it, the others
 * are asked about all the same. A source that fails about the first ones has failed altogether.
 */
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
      if (error instanceof NotFoundError) {
        isAnswering = true;
        yield createGoneResult(target.id, error.message);
        continue;
      }
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === "wait" || error.kind === "stop") throw error;
      isAnswering ||= error.kind === "refused";
      failedResults.push({ target: target.id, failure: error.message });
      const limit = Math.min(targets.length, MAX_LEADING_FAILURES);
      if (!isAnswering && failedResults.length >= limit) throw error;
    }
  }
  yield* failedResults;
}
