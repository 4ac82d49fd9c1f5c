/** Builds the results that collectors yield. */
import { DomainError } from "../../core/errors.ts";
import { ENTITY_FIELDS, type EntityKind } from "../../core/kinds.ts";
import { parseObservation } from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import type { CollectorContext, PollResult } from "./collector.ts";

/**
 * Creates the result for an observation now, or a failure if the observation is invalid.
 *
 * @param fields `undefined` counts as absent; a count of `null` is known to be hidden.
 * @param extra `missingCountsReason`, for a source that always has some count, is the failure if
 * all are missing: the source has renamed its fields then, and the counts are not hidden.
 */
export function createPollResult(
  { now }: CollectorContext,
  targetId: string,
  kind: EntityKind,
  fields: Readonly<Record<string, unknown>>,
  {
    missingCountsReason,
    ...extra
  }: Pick<PollResult, "sourceState"> & { readonly missingCountsReason?: string } = {},
): PollResult {
  const hasCounts = ENTITY_FIELDS[kind].counts.some((name) => (fields[name] ?? null) !== null);
  if (!hasCounts && missingCountsReason !== undefined) {
    return { targetId, failure: missingCountsReason };
  }
  const observedAt = now();
  const record = { kind, observedAt: formatInstant(observedAt), ...fields };
  try {
    parseObservation(record, observedAt);
    return { targetId, observations: [record], ...extra };
  } catch (error) {
    if (error instanceof DomainError) return { targetId, failure: error.message };
    throw error;
  }
}

/**
 * Creates the result for a target that does not exist.
 *
 * @param warning Why an item of the response could not be read. The missing one can be that item,
 * so it may not be gone.
 */
export function createGoneResult(targetId: string, reason: string, warning?: string): PollResult {
  return warning === undefined
    ? { targetId, failure: reason, isGone: true }
    : { targetId, failure: warning };
}
