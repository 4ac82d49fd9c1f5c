/** Builds the results that collectors yield. */
import { DomainError } from "../../core/errors.ts";
import { KIND_FIELDS } from "../../core/entity-kinds.ts";
import { parseObservation } from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import type { PollResult, ObservationRecord } from "./collector.ts";

/**
 * Creates an observation.
 *
 * @param observedAt Milliseconds since 1970 UTC.
 * @param fields `undefined` is left out; a count of `null` is known to be hidden.
 */
export function createObservationRecord(
  kind: ObservationRecord["kind"],
  observedAt: number,
  fields: Readonly<Record<string, unknown>>,
): ObservationRecord {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { kind, observedAt: formatInstant(observedAt), ...Object.fromEntries(present) };
}

/** Creates the result for one observation, or a failure if the observation is invalid. */
export function createPollResult(
  targetId: string,
  record: ObservationRecord,
  now: number,
  extra: Pick<PollResult, "sourceState"> = {},
): PollResult {
  try {
    parseObservation(record, now);
    return { targetId, observations: [record], ...extra };
  } catch (error) {
    if (error instanceof DomainError) return { targetId, failure: error.message };
    throw error;
  }
}

/**
 * Like {@link createPollResult}, for a source that always has some count. If all are missing, the
 * source has renamed its fields: the counts are not hidden.
 *
 * @param missingCountsReason The failure in that case.
 */
export function createCountedResult(
  targetId: string,
  record: ObservationRecord,
  now: number,
  missingCountsReason: string,
  extra: Pick<PollResult, "sourceState"> = {},
): PollResult {
  const hasCounts = KIND_FIELDS[record.kind].counts.some((name) => (record[name] ?? null) !== null);
  return hasCounts
    ? createPollResult(targetId, record, now, extra)
    : { targetId, failure: missingCountsReason };
}

/** Creates the result for a target that is missing in a response. */
export function createMissingResult(
  targetId: string,
  goneReason: string,
  warning: string | undefined,
): PollResult {
  // It can be the malformed item that the warning is about.
  return warning === undefined
    ? createGoneResult(targetId, goneReason)
    : { targetId, failure: warning };
}

/** Creates the result for a target that does not exist. */
export function createGoneResult(targetId: string, failure: string): PollResult {
  return { targetId, failure, isGone: true };
}
