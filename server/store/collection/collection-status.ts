/**
 * How the collection of who is watched stands: of what describes them and of their items together.
 */
import type { SourceState } from "../../ports/targets.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { CollectionStatus } from "../../ports/collection.ts";

interface TargetStatus {
  readonly succeededAt: number | null;
  readonly failedAt: number | null;
  readonly failure: string | null;
  /** Since the last success. */
  readonly failures: number;
  readonly dueAt: number;
  readonly memo: SourceState;
}

/**
 * The column that {@link parseCollectionStatus} reads.
 *
 * @param platform As SQL.
 * @param id The identifier of the targets, as SQL.
 */
export function selectCollectionStatusSql(platform: string, id: string): string {
  return (
    "(SELECT json_group_array(json_object('succeededAt', succeeded_at, 'failedAt', failed_at, " +
    "'failure', failure, 'failures', failures, 'dueAt', due_at, 'memo', json(source_state))) " +
    `FROM targets WHERE targets.platform = ${platform} ` +
    `AND targets.task IN ('profile', 'items') AND targets.id = ${id})`
  );
}

/** How it stands by the column's value, and what the source told of them to be asked with. */
export function parseCollectionStatus(column: unknown): {
  readonly status: CollectionStatus;
  readonly sourceStates: SourceState[];
} {
  const targets: TargetStatus[] = JSON.parse(String(column));
  // The profile comes last: where both failed at once, it tells more of why.
  const lastFailing = targets
    .filter(({ failures }) => failures > 0)
    .toSorted((a, b) => (a.failedAt ?? 0) - (b.failedAt ?? 0))
    .at(-1);
  const successes = targets.flatMap(({ succeededAt }) => succeededAt ?? []);
  const dueTimes = targets.map(({ dueAt }) => dueAt);
  const told = {
    last_success: formatInstantOrNull(successes.length === 0 ? null : Math.max(...successes)),
    last_failure: formatInstantOrNull(lastFailing?.failedAt ?? null),
    failure: lastFailing?.failure ?? null,
    next_due: formatInstantOrNull(dueTimes.length === 0 ? null : Math.min(...dueTimes)),
  };
  return { status: told, sourceStates: targets.map(({ memo }) => memo) };
}
