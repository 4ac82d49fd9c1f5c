/**
 * The collection status of a creator or channel: its last success, last failure and next poll, from
 * its `profile` and `items` targets.
 */
import type { ListedCreator } from "../../../core/resources/generated/types.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceState } from "../../collectors/targets.ts";

/** When a creator or channel was observed and will be; instants are ISO 8601. */
type CollectionStatus = Pick<
  ListedCreator,
  "last_success" | "last_failure" | "failure" | "next_due"
>;

/** A target, as {@link selectTargetStatusesSql} selects it. */
export interface TargetStatus {
  readonly succeededAt: number | null;
  readonly failedAt: number | null;
  readonly failure: string | null;
  /** Since the last success. */
  readonly failures: number;
  readonly dueAt: number;
  readonly sourceState: SourceState;
}

/**
 * Returns a scalar subquery of the JSON array of {@link TargetStatus} of a creator or tracked channel.
 * The platform and the id of the targets are SQL.
 */
export const selectTargetStatusesSql = (platform: string, id: string): string => `(
    SELECT json_group_array(json_object(
      'succeededAt', succeeded_at, 'failedAt', failed_at, 'failure', failure,
      'failures', failures, 'dueAt', due_at, 'sourceState', json(source_state)
    ))
    FROM (
      SELECT *
      FROM targets
      WHERE platform = ${platform} AND task IN ('profile', 'items') AND targets.id = ${id}
      ORDER BY task
    )
  )`;

/** Summarizes targets. @param idleReason The failure of an entity without targets. */
export function toCollectionStatus(
  targets: readonly TargetStatus[],
  idleReason: string | undefined,
): CollectionStatus {
  // The order of the tasks puts the profile last: if both failed at one instant, its reason says more.
  const lastFailing = targets
    .filter(({ failures }) => failures > 0)
    .toSorted((a, b) => (a.failedAt ?? 0) - (b.failedAt ?? 0))
    .at(-1);
  const successes = targets.flatMap(({ succeededAt }) => succeededAt ?? []);
  const dueTimes = targets.map(({ dueAt }) => dueAt);
  const failure = lastFailing?.failure ?? (targets.length === 0 ? idleReason : undefined);
  return {
    last_success: formatInstantOrNull(successes.length === 0 ? null : Math.max(...successes)),
    last_failure: formatInstantOrNull(lastFailing?.failedAt ?? null),
    failure: failure ?? null,
    next_due: formatInstantOrNull(dueTimes.length === 0 ? null : Math.min(...dueTimes)),
  };
}
