/**
 * The collection status of a creator or channel: its last success, last failure and next poll, from
 * its `profile` and `items` targets.
 */
import { formatInstantOrNull } from "../../../core/time.ts";
import type { SourceState } from "../../collectors/targets.ts";

/** When a creator or channel was observed and will be; instants are ISO 8601. */
export interface CollectionStatus {
  /** The last success of its profile or items. */
  readonly last_success: string | null;
  /** The last failure that no success followed. */
  readonly last_failure: string | null;
  /** Why it failed, for people. */
  readonly failure: string | null;
  /** `null` when nothing is planned yet. */
  readonly next_due: string | null;
}

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
 *
 * @param platform As SQL.
 * @param id The id of the targets, as SQL.
 */
export function selectTargetStatusesSql(platform: string, id: string): string {
  return `(
    SELECT json_group_array(json_object(
      'succeededAt', succeeded_at,
      'failedAt', failed_at,
      'failure', failure,
      'failures', failures,
      'dueAt', due_at,
      'sourceState', json(source_state)
    ))
    FROM (
      SELECT *
      FROM targets
      WHERE targets.platform = ${platform}
        AND targets.task IN ('profile', 'items')
        AND targets.id = ${id}
      ORDER BY targets.task
    )
  )`;
}

/**
 * Summarizes the targets of a creator or tracked channel.
 *
 * @param idleReason Why nothing is collected: the failure of an entity without targets.
 */
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
