/** What is observed again and again, and when next. All instants are milliseconds since 1970 UTC. */
import type {
  ScheduledItem,
  DueTarget,
  TaskName,
  SourceState,
  Platform,
  TargetUpdate,
  AgeRange,
} from "../../ports/targets.ts";
import type { Database } from "../database/database.ts";
import { jsonExtractSql } from "../tables/json-sql.ts";

const RELAXED_WRITE = { durability: "configured", idempotent: true } as const;

/** Targets as one JSON text; see {@link TargetRow}. */
const SELECT_TARGETS =
  "SELECT json_group_array(json_array(id, json(source_state), owner, due_at, succeeded_at, " +
  "published_at, failures)) FROM ";

type TargetRow = [
  id: string,
  memo: SourceState,
  owner: string | null,
  dueAt: number,
  succeededAt: number | null,
  publishedAt: number | null,
  failures: number,
];

const SELECT_DUE_TARGETS =
  SELECT_TARGETS +
  "(SELECT * FROM targets WHERE platform = ? AND task = ? AND due_at <= ? " +
  "ORDER BY due_at, id LIMIT ?)";

const SELECT_NEXT_DUE =
  "SELECT min(due) AS due FROM (SELECT (SELECT min(due_at) FROM targets " +
  "WHERE platform = ? AND task = asked.task) AS due FROM (SELECT 'profile' AS task " +
  "UNION ALL SELECT 'items' UNION ALL SELECT 'counts') AS asked)";

const COUNT_TARGETS = "SELECT count(*) AS targets FROM targets WHERE platform = ? AND task = ?";

const COUNT_BY_AGE =
  "SELECT (SELECT count(*) FROM targets WHERE platform = ?1 AND task = ?2 " +
  `AND published_at > ${jsonExtractSql(0)} AND published_at <= ${jsonExtractSql(1)}) AS targets ` +
  "FROM json_each(?3) ORDER BY key";

const SELECT_ITEM_TARGETS =
  SELECT_TARGETS +
  "targets WHERE platform = ? AND task = 'counts' AND id IN (SELECT value FROM json_each(?))";

const INSERT_ITEM_TARGETS =
  "INSERT INTO targets (platform, task, id, owner, published_at, due_at, source_state) " +
  `SELECT ?1, 'counts', ${jsonExtractSql(0)}, ?2, ${jsonExtractSql(1)}, ${jsonExtractSql(2)}, ${jsonExtractSql(3)} ` +
  "FROM json_each(?3) WHERE EXISTS (SELECT 1 FROM targets WHERE platform = ?1 " +
  "AND task = 'items' AND id = ?2) ON CONFLICT DO NOTHING";

/**
 * What is settled meets the target that it is of, which is searched for; a new row never comes of
 * it. Done again it changes nothing more: a failure is known by its instant.
 */
const UPDATE_TARGETS =
  "INSERT INTO targets (platform, task, id, due_at, source_state, succeeded_at, failed_at, failure, " +
  `published_at) SELECT ?1, ?2, known.id, ${jsonExtractSql(1)}, ifnull(${jsonExtractSql(2)}, known.source_state), ` +
  `${jsonExtractSql(3)}, ${jsonExtractSql(4)}, ${jsonExtractSql(5)}, ${jsonExtractSql(6)} ` +
  "FROM json_each(?3) CROSS JOIN targets AS known " +
  `ON known.platform = ?1 AND known.task = ?2 AND known.id = ${jsonExtractSql(0)} WHERE true ` +
  "ON CONFLICT DO UPDATE SET due_at = excluded.due_at, source_state = excluded.source_state, " +
  "succeeded_at = ifnull(excluded.succeeded_at, succeeded_at), " +
  "failed_at = ifnull(excluded.failed_at, failed_at), " +
  "failure = ifnull(excluded.failure, failure), " +
  "published_at = ifnull(excluded.published_at, published_at), " +
  "failures = CASE WHEN excluded.succeeded_at IS NOT NULL THEN 0 " +
  "WHEN excluded.failed_at IS NULL OR excluded.failed_at = failed_at THEN failures " +
  "ELSE failures + 1 END";

/**
 * What profiles told that their lists of items need to know: what to remember, beside what they
 * remember themselves, and how many items there are; another number than before makes the list
 * due, unless it fails. Takes the platform, and the rows that {@link UPDATE_TARGETS} takes.
 */
const UPDATE_ITEM_LISTS =
  "INSERT INTO targets (platform, task, id, due_at, source_state, item_count) " +
  "SELECT ?1, 'items', known.id, " +
  `CASE WHEN known.failures = 0 AND ${jsonExtractSql(7)} <> ifnull(known.item_count, -1) ` +
  `THEN min(known.due_at, ${jsonExtractSql(3)}) ELSE known.due_at END, ` +
  `json_patch(known.source_state, ifnull(${jsonExtractSql(2)}, '{}')), ` +
  `ifnull(${jsonExtractSql(7)}, known.item_count) FROM json_each(?2) ` +
  "CROSS JOIN targets AS known ON known.platform = ?1 AND known.task = 'items' " +
  `AND known.id = ${jsonExtractSql(0)} WHERE ${jsonExtractSql(3)} IS NOT NULL ` +
  "ON CONFLICT DO UPDATE SET due_at = excluded.due_at, source_state = excluded.source_state, " +
  "item_count = excluded.item_count";

/** The targets of a database. */
export function createTargetStore(database: Database) {
  return { ...createTargetReads(database), ...createTargetWrites(database) };
}

function createTargetReads(database: Database) {
  const readFirstRow = async (sql: string, ...args: (string | number)[]) =>
    (await database.queryRows({ sql, args }))[0];
  return {
    /** Targets that are due, the one that waits longest first. */
    async listDue(
      platform: Platform,
      task: TaskName,
      now: number,
      limit: number,
    ): Promise<DueTarget[]> {
      const rows = await database.queryJson<TargetRow[]>(SELECT_DUE_TARGETS, [
        platform,
        task,
        now,
        limit,
      ]);
      return (rows ?? []).map(toDueTarget);
    },

    /** The instant at which something is due next; `undefined` where nothing is. */
    async readNextDue(platform: Platform): Promise<number | undefined> {
      const due = (await readFirstRow(SELECT_NEXT_DUE, platform))?.["due"];
      return typeof due === "number" ? due : undefined;
    },

    /** How many targets of a task there are. */
    async countTargets(platform: Platform, task: TaskName): Promise<number> {
      return Number((await readFirstRow(COUNT_TARGETS, platform, task))?.["targets"]);
    },

    /** How many targets were published in each span of ages: `from` included, `to` excluded. */
    async countByAge(
      platform: Platform,
      task: TaskName,
      spans: readonly AgeRange[],
      now: number,
    ): Promise<number[]> {
      const published = spans.map(({ from, to }) => [
        clampInstant(now - to),
        clampInstant(now - from),
      ]);
      const args = [platform, task, JSON.stringify(published)];
      const rows = await database.queryRows({ sql: COUNT_BY_AGE, args });
      return rows.map((row) => Number(row["targets"]));
    },

    /** Those of some items that are targets of `counts`, in any order. */
    async listItemTargets(platform: Platform, ids: readonly string[]): Promise<DueTarget[]> {
      const args = [platform, JSON.stringify(ids)];
      const rows = await database.queryJson<TargetRow[]>(SELECT_ITEM_TARGETS, args);
      return (rows ?? []).map(toDueTarget);
    },
  };
}

function createTargetWrites(database: Database) {
  return {
    /** Adds items that are not targets of `counts` yet; of an owner that was removed, none. */
    async addItems(
      platform: Platform,
      owner: string,
      items: readonly ScheduledItem[],
    ): Promise<void> {
      const added = items.map(({ id, publishedAt, dueAt, sourceState: memo = {} }) => [
        id,
        publishedAt,
        dueAt,
        JSON.stringify(memo),
      ]);
      const args = [platform, owner, JSON.stringify(added)];
      await database.write([{ sql: INSERT_ITEM_TARGETS, args }], RELAXED_WRITE);
    },

    /** Notes what became of targets; of one that was removed meanwhile, nothing. */
    async saveResults(
      platform: Platform,
      task: TaskName,
      settled: readonly TargetUpdate[],
    ): Promise<void> {
      const rows = settled.map(
        ({
          id,
          dueAt,
          sourceState: memo,
          succeededAt,
          failure: failed,
          publishedAt,
          itemCount,
        }) => [
          id,
          dueAt,
          memo === undefined ? null : JSON.stringify(memo),
          succeededAt ?? null,
          failed?.at ?? null,
          failed?.reason ?? null,
          publishedAt ?? null,
          itemCount ?? null,
        ],
      );
      const json = JSON.stringify(rows);
      const statements = [{ sql: UPDATE_TARGETS, args: [platform, task, json] }];
      if (task === "profile") statements.push({ sql: UPDATE_ITEM_LISTS, args: [platform, json] });
      await database.write(statements, RELAXED_WRITE);
    },
  };
}

/** What JSON can hold of an instant that may lie at either end of time. */
function clampInstant(ms: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, ms));
}

function toDueTarget(row: TargetRow): DueTarget {
  const [id, memo, owner, dueAt, succeededAt, publishedAt, failures] = row;
  return { id, sourceState: memo, owner, dueAt, succeededAt, publishedAt, failures };
}
