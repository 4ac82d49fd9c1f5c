/** Stores the targets that collectors poll: when each is due, and what its polls found. */
import type {
  DiscoveredItem,
  DueTarget,
  Platform,
  SourceState,
  TaskName,
} from "../../collectors/collector.ts";
import type { Database } from "../database/database.ts";

/** The changes of a target by a poll. Absent fields stay as they were. */
export interface TargetUpdate {
  readonly id: string;
  readonly dueAt: number;
  readonly sourceState?: SourceState;
  /** `items`: when the newest item was published. */
  readonly publishedAt?: number;
  /** `profile`: the number of items. A new number makes their list due, unless its poll failed. */
  readonly itemCount?: number;
  /** At most one of these two is present; neither if the poll was only postponed. */
  readonly succeededAt?: number;
  readonly failure?: { readonly at: number; readonly reason: string };
}

const WRITE_OPTIONS = { durability: "configured", idempotent: true } as const;

const selectTargetsSql = (from: string) => `
  SELECT json_group_array(json_object(
    'id', id, 'sourceState', json(source_state), 'owner', owner, 'dueAt', due_at,
    'succeededAt', succeeded_at, 'publishedAt', published_at, 'failures', failures
  ))
  ${from}`;

const SELECT_DUE_TARGETS = selectTargetsSql(`
  FROM (
    SELECT *
    FROM targets
    WHERE platform = ? AND task = ? AND due_at <= ?
    ORDER BY due_at, id
    LIMIT ?
  )`);

const SELECT_ITEM_TARGETS = selectTargetsSql(`
  FROM targets
  WHERE platform = ? AND task = 'counts' AND id IN (SELECT value FROM json_each(?))`);

// The first due time of each task is found by the index; one min() over all would scan.
const SELECT_NEXT_DUE = `
  SELECT json_quote(min(due_at))
  FROM (
    SELECT (SELECT min(due_at) FROM targets WHERE platform = ? AND task = tasks.task) AS due_at
    FROM (SELECT 'profile' AS task UNION ALL SELECT 'items' UNION ALL SELECT 'counts') AS tasks
  )`;

/** Argument ?3 is a JSON array of the ranges' `after` (excluded) and `until` (included). */
const COUNT_BY_AGE = `
  SELECT json_group_array((
    SELECT count(*)
    FROM targets
    WHERE platform = ?1 AND task = ?2
      AND published_at > json_extract(value, '$.after')
      AND published_at <= json_extract(value, '$.until')
  ))
  FROM (SELECT value FROM json_each(?3) ORDER BY key)`;

const INSERT_ITEM_TARGETS = `
  INSERT INTO targets (platform, task, owner, id, published_at, due_at, source_state)
  SELECT
    ?1, 'counts', ?2,
    json_extract(value, '$.id'),
    json_extract(value, '$.publishedAt'),
    json_extract(value, '$.dueAt'),
    ifnull(json_extract(value, '$.sourceState'), '{}')
  FROM json_each(?3)
  WHERE EXISTS (SELECT 1 FROM targets WHERE platform = ?1 AND task = 'items' AND id = ?2)
  ON CONFLICT DO NOTHING`;

/**
 * Argument ?3 is a JSON array of `TargetUpdate`. The join with the stored targets makes sure that
 * every row conflicts, so that no row is inserted. A second run changes nothing more, because a
 * failure is identified by its instant.
 */
const UPDATE_TARGETS = `
  INSERT INTO targets
    (platform, task, id, due_at, source_state, succeeded_at, failed_at, failure, published_at)
  SELECT
    ?1, ?2, stored.id,
    json_extract(value, '$.dueAt'),
    ifnull(json_extract(value, '$.sourceState'), stored.source_state),
    json_extract(value, '$.succeededAt'),
    json_extract(value, '$.failure.at'),
    json_extract(value, '$.failure.reason'),
    json_extract(value, '$.publishedAt')
  FROM json_each(?3)
  CROSS JOIN targets AS stored
    ON stored.platform = ?1 AND stored.task = ?2 AND stored.id = json_extract(value, '$.id')
  WHERE true
  ON CONFLICT DO UPDATE SET
    due_at = excluded.due_at,
    source_state = excluded.source_state,
    succeeded_at = ifnull(excluded.succeeded_at, succeeded_at),
    failed_at = ifnull(excluded.failed_at, failed_at),
    failure = ifnull(excluded.failure, failure),
    published_at = ifnull(excluded.published_at, published_at),
    failures = CASE
      WHEN excluded.succeeded_at IS NOT NULL THEN 0
      WHEN excluded.failed_at IS NULL OR excluded.failed_at = failed_at THEN failures
      ELSE failures + 1
    END`;

/**
 * Applies the updates ?2 of `profile` targets to the `items` targets of the same ids: merges the
 * source state, and makes a list due whose number of items differs, unless its last poll failed.
 */
const UPDATE_ITEM_LISTS = `
  INSERT INTO targets (platform, task, id, due_at, source_state, item_count)
  SELECT
    ?1, 'items', stored.id,
    CASE
      WHEN stored.failures = 0
        AND json_extract(value, '$.itemCount') <> ifnull(stored.item_count, -1)
      THEN min(stored.due_at, json_extract(value, '$.succeededAt'))
      ELSE stored.due_at
    END,
    json_patch(stored.source_state, ifnull(json_extract(value, '$.sourceState'), '{}')),
    ifnull(json_extract(value, '$.itemCount'), stored.item_count)
  FROM json_each(?2)
  CROSS JOIN targets AS stored
    ON stored.platform = ?1 AND stored.task = 'items' AND stored.id = json_extract(value, '$.id')
  WHERE json_extract(value, '$.succeededAt') IS NOT NULL
  ON CONFLICT DO UPDATE SET
    due_at = excluded.due_at,
    source_state = excluded.source_state,
    item_count = excluded.item_count`;

export function createTargetStore(database: Database) {
  const listTargets = async (sql: string, args: (string | number)[]): Promise<DueTarget[]> =>
    (await database.queryJson(sql, args)) ?? [];
  return {
    /** Targets that are due, the longest overdue first. */
    listDue: (platform: Platform, task: TaskName, now: number, limit: number) =>
      listTargets(SELECT_DUE_TARGETS, [platform, task, now, limit]),

    listItemTargets: (platform: Platform, ids: readonly string[]) =>
      listTargets(SELECT_ITEM_TARGETS, [platform, JSON.stringify(ids)]),

    readNextDue: async (platform: Platform) =>
      (await database.queryJson<number | null>(SELECT_NEXT_DUE, [platform])) ?? undefined,

    async countTargets(platform: Platform, task: TaskName) {
      const sql = "SELECT json_quote(count(*)) FROM targets WHERE platform = ? AND task = ?";
      return (await database.queryJson<number>(sql, [platform, task])) ?? 0;
    },

    /** Counts targets by ages in milliseconds. A range includes `from`, and excludes `to`. */
    async countByAge(
      platform: Platform,
      task: TaskName,
      ranges: readonly Readonly<Record<"from" | "to", number>>[],
      now: number,
    ) {
      const published = ranges.map(({ from, to }) => ({
        after: clampInstant(now - to),
        until: clampInstant(now - from),
      }));
      const args = [platform, task, JSON.stringify(published)];
      return (await database.queryJson<number[]>(COUNT_BY_AGE, args)) ?? [];
    },

    /** Adds items that are not yet targets of `counts`; none when the owner was removed. */
    async addItems(
      platform: Platform,
      owner: string,
      items: readonly (DiscoveredItem & { readonly dueAt: number })[],
    ) {
      const args = [platform, owner, JSON.stringify(items)];
      await database.write([{ sql: INSERT_ITEM_TARGETS, args }], WRITE_OPTIONS);
    },

    /** Saves results, but no results of targets that were removed meanwhile. */
    async saveResults(platform: Platform, task: TaskName, updates: readonly TargetUpdate[]) {
      const json = JSON.stringify(updates);
      const statements = [{ sql: UPDATE_TARGETS, args: [platform, task, json] }];
      if (task === "profile") statements.push({ sql: UPDATE_ITEM_LISTS, args: [platform, json] });
      await database.write(statements, WRITE_OPTIONS);
    },
  };
}

/** Clamps an instant to an exact number of JSON: a range of ages can be infinite. */
const clampInstant = (ms: number) =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, ms));
