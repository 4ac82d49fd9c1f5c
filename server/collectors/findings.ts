/** How collectors go through their targets, and tell what they found. */
import type { Target } from "../../core/collection.ts";
import { DomainError } from "../../core/errors.ts";
import { KINDS } from "../../core/kinds.ts";
import { checkObservation } from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import {
  NotThere,
  SourceFailure,
  type Collector,
  type Finding,
  type ObservationRecord,
  type Surroundings,
} from "./port.ts";

/**
 * An observation, without what was not told.
 *
 * @param at When it was observed, in milliseconds since 1970 UTC.
 * @param fields `undefined` is not told; a count of `null` is told to be unknown.
 */
export function recordOf(
  kind: ObservationRecord["kind"],
  at: number,
  fields: Readonly<Record<string, unknown>>,
): ObservationRecord {
  const told = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { kind, observedAt: formatInstant(at), ...Object.fromEntries(told) };
}

/** Why an observation is not stored; `undefined` where it is. */
export function refusalOf(record: ObservationRecord, now: number): string | undefined {
  try {
    checkObservation(record, now);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

/** The finding of one observation of a target: it, or why it cannot be believed. */
export function findingOf(
  target: string,
  record: ObservationRecord,
  now: number,
  more: Pick<Finding, "memo"> = {},
): Finding {
  const failure = refusalOf(record, now);
  return failure === undefined ? { target, observations: [record], ...more } : { target, failure };
}

/**
 * The same, of a source that tells some count of everything: where it tells none, its counts have
 * other names by now, and are not unknown.
 *
 * @param uncounted Why such a one cannot be believed.
 */
export function countedOf(
  target: string,
  record: ObservationRecord,
  now: number,
  uncounted: string,
  more: Pick<Finding, "memo"> = {},
): Finding {
  const isCounted = KINDS[record.kind].counts.some((name) => (record[name] ?? null) !== null);
  return isCounted ? findingOf(target, record, now, more) : { target, failure: uncounted };
}

/** The finding of a target that is not there. */
export function goneOf(target: string, failure: string): Finding {
  return { target, failure, isGone: true };
}

/**
 * Goes through targets that are asked about together. Where the source says of a batch that it is
 * not there, its halves are asked about, until who is missing is alone.
 *
 * @param tell Asks before it tells.
 */
export async function* inBatches(
  targets: readonly Target[],
  size: number,
  tell: (batch: readonly Target[]) => AsyncIterable<Finding>,
): AsyncGenerator<Finding> {
  const waiting: (readonly Target[])[] = [];
  for (let from = 0; from < targets.length; from += size) {
    waiting.push(targets.slice(from, from + size));
  }
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    const [first] = batch;
    try {
      yield* tell(batch);
    } catch (error) {
      if (!(error instanceof NotThere) || first === undefined) throw error;
      const half = Math.ceil(batch.length / 2);
      if (batch.length === 1) yield goneOf(first.id, error.message);
      else waiting.unshift(batch.slice(0, half), batch.slice(half));
    }
  }
}

/** What a source is asked with for each errand: of which bucket, and by which function. */
export interface SourceErrands {
  /** How many targets of `profile` and of `counts` it takes at once; lists are read one by one. */
  readonly batch: number;
  readonly profile: readonly [bucket: string, tell: TellProfiles];
  readonly items: readonly [bucket: string, tell: TellOf<Target>];
  readonly counts: readonly [bucket: string, tell: TellOf<readonly Target[]>];
}

type TellProfiles = (
  targets: readonly Target[],
  batch: number,
  surroundings: Surroundings,
) => AsyncIterable<Finding>;

type TellOf<Asked> = (asked: Asked, surroundings: Surroundings) => AsyncIterable<Finding>;

/** The errands of a source, as the port has them. */
export function errandsOf({ batch, profile, items, counts }: SourceErrands): Collector["errands"] {
  const [ofProfiles, tellProfiles] = profile;
  const [ofItems, tellItems] = items;
  const [ofCounts, tellCounts] = counts;
  return {
    profile: {
      batch,
      bucket: ofProfiles,
      observe: (targets, surroundings) => tellProfiles(targets, batch, surroundings),
    },
    items: {
      batch: 1,
      bucket: ofItems,
      observe: (targets, surroundings) =>
        oneByOne(targets, (target) => tellItems(target, surroundings)),
    },
    counts: {
      batch,
      bucket: ofCounts,
      observe: (targets, surroundings) =>
        inBatches(targets, batch, (part) => tellCounts(part, surroundings)),
    },
  };
}

/** How many failures in a row, from the first target on, are a failure of the source. */
const FAILURES_AT_ONCE = 3;

/**
 * Goes through targets one by one: where one is not there, or the source fails about it, the others
 * are asked about all the same. A source that fails about the first ones has failed altogether.
 */
export async function* oneByOne(
  targets: readonly Target[],
  tell: (target: Target) => AsyncIterable<Finding>,
): AsyncGenerator<Finding> {
  const failed: Finding[] = [];
  let isAnswering = false;
  for (const target of targets) {
    try {
      yield* tell(target);
      isAnswering = true;
    } catch (error) {
      if (error instanceof NotThere) {
        isAnswering = true;
        yield goneOf(target.id, error.message);
        continue;
      }
      if (!(error instanceof SourceFailure)) throw error;
      if (error.kind === "wait" || error.kind === "stop") throw error;
      isAnswering ||= error.kind === "refused";
      failed.push({ target: target.id, failure: error.message });
      const most = Math.min(targets.length, FAILURES_AT_ONCE);
      if (!isAnswering && failed.length >= most) throw error;
    }
  }
  yield* failed;
}
