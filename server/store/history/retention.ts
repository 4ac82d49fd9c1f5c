/**
 * Applies the retention policy, or counts what it would remove. Walks through all observations in
 * steps of a few milliseconds with pauses between. Each step reads a few chunks, prunes them with
 * one write, and proves the result. Nothing is kept between walks: a walk can stop after any step.
 */
import type { Row } from "@libsql/client";
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import {
  applyRetentionBounds,
  computeRetentionBounds,
  formatRetentionRule,
  type RetentionBounds,
  type RetentionPolicy,
} from "../../../core/retention.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { decodeChunks, encodeChunks, type Chunk } from "./chunk-codec.ts";
import { CHUNK_JSON, deleteChunks, upsertChunks, type ChunkPosition } from "./chunk-sql.ts";
import { updateGainsAfterPruning } from "./gains.ts";
import { markStale } from "./stale-marks.ts";
import { recordHistoryRewrites } from "./change-log.ts";
import { writeOptimistically } from "./optimistic-writes.ts";

export interface RetentionReport {
  readonly isDryRun: boolean;
  readonly kinds: readonly {
    readonly kind: EntityKind;
    /** As the setting writes it; `all` if there is none. */
    readonly rule: string;
    readonly entities: number;
    /** Observations before the run, removed (or to be removed, in a dry run), and after it. */
    readonly before: number;
    readonly removed: number;
    readonly after: number;
  }[];
  /** Observations that a run lost, or a newest state that it changed. */
  readonly faults: readonly Readonly<{ kind: EntityKind; problem: string }>[];
}

/** Yields how many observations each step examined. */
export type RetentionRun = AsyncGenerator<number, RetentionReport>;

const PAUSE_MAX_MS = 100;
const KEEP_ALL = { rawFrom: FIRST_INSTANT, dailyFrom: FIRST_INSTANT };

// Limits of a step, so that it takes a few milliseconds.
const STEP_MAX_OBSERVATIONS = 1000;
const STEP_MAX_CHUNKS = 25;

/** Applies a policy. The caller can stop after any step. */
export async function* applyRetention(
  database: Database,
  options: {
    readonly policy: RetentionPolicy;
    readonly now: number;
    readonly isDryRun: boolean;
    /** The pause after a step, as a multiple of the time that the step took. */
    readonly pauseRatio: number;
    readonly kinds?: readonly EntityKind[];
  },
): RetentionRun {
  const { policy, now, isDryRun, pauseRatio } = options;
  const kinds: RetentionReport["kinds"][number][] = [];
  const faults: RetentionReport["faults"][number][] = [];
  for (const kind of options.kinds ?? ENTITY_KINDS) {
    const rule = policy[kind];
    const bounds = rule === undefined ? KEEP_ALL : computeRetentionBounds(rule, now);
    const totals = { entities: 0, before: 0, removed: 0, after: 0 };
    const tables = KIND_TABLES[kind];
    let isStateUntouched = true;
    let from: ChunkPosition = { key: 0, start: Number.MIN_SAFE_INTEGER };
    const to = (await database.queryJson<ChunkPosition>(selectLastPositionSql(tables), [])) ?? from;
    for (;;) {
      const startedAt = performance.now();
      const plan = await readPlan(database, tables, bounds, { from, to });
      if (plan.found === 0) break;
      const result =
        isDryRun || plan.removed === 0
          ? { ...plan, left: plan.found - plan.removed, isStateUntouched: true }
          : await prune(database, tables, bounds, { from, to });
      // The step before can end within the history of the first entity.
      totals.entities += result.keys.filter((key) => key !== from.key).length;
      totals.before += result.found;
      totals.removed += result.removed;
      totals.after += result.left;
      isStateUntouched &&= result.isStateUntouched;
      yield result.found;
      await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * (performance.now() - startedAt)));
      from = result.to;
    }
    kinds.push({ kind, rule: formatRetentionRule(rule), ...totals });
    const { before, removed, after } = totals;
    const problem = `its steps found ${before} observations, removed ${removed} and left ${after}`;
    if (before !== removed + after) faults.push({ kind, problem });
    if (!isStateUntouched) faults.push({ kind, problem: "a step changed a newest state" });
  }
  return { isDryRun, kinds, faults };
}

const selectLastPositionSql = ({ historyTable, entityColumn }: KindTables) => `
  SELECT json_object('key', ${entityColumn}, 'start', start)
  FROM ${historyTable}
  ORDER BY ${entityColumn} DESC, start DESC
  LIMIT 1`;

/** `nextStart` is where the next chunk of the entity starts; `null` if this is the last one. */
type EntityChunk = Chunk & ChunkPosition & Readonly<{ id: string; nextStart: number | null }>;

/** Chunks of a history table; `from` is excluded. */
type ChunkRange = Readonly<Record<"from" | "to", ChunkPosition>>;

/**
 * Reads the chunks of a step, and decides which points the bounds keep. Chunks that lose no point
 * stay. The kept points of other chunks are appended to the chunk before: no chunk becomes small.
 */
async function readPlan(
  database: Database,
  tables: KindTables,
  bounds: RetentionBounds,
  { from, to }: ChunkRange,
) {
  const { pointLayout } = tables;
  const args = [from.key, from.start, to.key, to.start];
  const read = (await database.queryJson<EntityChunk[]>(selectStepChunksSql(tables), args)) ?? [];
  const isPrevious = ({ key, start }: EntityChunk) => key === from.key && start <= from.start;
  const previous = read.find(isPrevious);
  const chunks: EntityChunk[] = [];
  let found = 0;
  for (const chunk of read.filter((candidate) => !isPrevious(candidate))) {
    if (chunks.length > 0 && found + chunk.size > STEP_MAX_OBSERVATIONS) break;
    chunks.push(chunk);
    found += chunk.size;
  }
  const deleted: EntityChunk[] = [];
  const written: (Chunk & { readonly id: string })[] = [];
  let removed = 0;
  const oldChunks = chunks.filter(({ start }) => start < bounds.rawFrom);
  for (const [id, entityChunks] of Map.groupBy(oldChunks, (chunk) => chunk.id)) {
    const points = decodeChunks(entityChunks, pointLayout);
    const kept = applyRetentionBounds(points, bounds, entityChunks.at(-1)?.nextStart ?? undefined);
    if (kept.length === points.length) continue;
    removed += points.length - kept.length;
    deleted.push(...entityChunks);
    const lastChunk = previous?.id === id ? previous : undefined;
    for (const chunk of encodeChunks(kept, pointLayout, lastChunk)) written.push({ id, ...chunk });
  }
  const keys = [...new Set(chunks.map(({ key }) => key))];
  const last = chunks.at(-1);
  // Up to the next chunk, because rewritten chunks can start at any instant before it.
  const end =
    last === undefined ? to : { key: last.key, start: (last.nextStart ?? LAST_INSTANT + 1) - 1 };
  return { from, to: end, keys, found, removed, deleted, written };
}

/** Prunes the chunks of a step, and compares the tables before and after the write. */
async function prune(
  database: Database,
  tables: KindTables,
  bounds: RetentionBounds,
  range: ChunkRange,
) {
  const { plan, results } = await writeOptimistically(database, async () => {
    const current = await readPlan(database, tables, bounds, range);
    const { from, to, keys, removed, deleted, written } = current;
    const args = [from.key, from.start, to.key, to.start, JSON.stringify(keys)];
    const selectState = { sql: selectStateSql(tables), args };
    const before = parseState(tables, await database.queryRows(selectState));
    const rewrittenIds = new Set(deleted.map(({ id }) => id));
    const recordChange = recordHistoryRewrites(tables.kind, [...rewrittenIds]);
    if (removed === 0) return { ...current, selectState, before, recordChange, statements: [] };
    const statements = [
      deleteChunks(tables, deleted),
      upsertChunks(tables, written),
      ...(await updateGainsAfterPruning(database, tables, deleted, bounds)),
      markStale(tables, { keys: deleted.map(({ key }) => key), ids: [] }),
      selectState,
    ];
    return { ...current, selectState, before, recordChange, statements };
  });
  const { before } = plan;
  // If the response to the write was lost, the state is read again, a little later.
  const rows = results.at(-1)?.rows ?? (await database.queryRows(plan.selectState));
  const after = parseState(tables, rows);
  return {
    ...plan,
    left: plan.found - (before.observationCount - after.observationCount),
    isStateUntouched: before.newestStates === after.newestStates,
  };
}

/** Whether a chunk is in the range ?1 to ?4, or just before it, where a step can extend it. */
const isInRangeOrPreviousSql = ({ historyTable, entityColumn }: KindTables) => `
  (${entityColumn}, start) >= (?1, ifnull((
    SELECT max(start) FROM ${historyTable} WHERE ${entityColumn} = ?1 AND start <= ?2
  ), ?2)) AND (${entityColumn}, start) <= (?3, ?4)`;

const selectStepChunksSql = (tables: KindTables) => `
  SELECT json_group_array(json_object(
    'key', ${tables.entityColumn},
    'id', (SELECT id FROM ${tables.entityTable} WHERE key = page.${tables.entityColumn}),
    'start', start,
    'size', size,
    'points', points,
    'nextStart', (
      SELECT min(start)
      FROM ${tables.historyTable} AS later
      WHERE later.${tables.entityColumn} = page.${tables.entityColumn} AND later.start > page.start
    )
  ))
  FROM (
    SELECT *
    FROM ${tables.historyTable}
    WHERE ${isInRangeOrPreviousSql(tables)}
    ORDER BY ${tables.entityColumn}, start
    LIMIT ${STEP_MAX_CHUNKS + 1}
  ) AS page`;

const selectStateSql = (tables: KindTables) => `
  SELECT json_object(
    'observationCount', (
      SELECT ifnull(sum(size), 0)
      FROM ${tables.historyTable}
      WHERE ${isInRangeOrPreviousSql(tables)}
    ),
    'newestStates', (
      SELECT json_group_array(json_array(
        json_array(${tables.stateColumns.map((column) => `e.${column}`).join(", ")}),
        (
          SELECT ${CHUNK_JSON}
          FROM ${tables.historyTable}
          WHERE ${tables.entityColumn} = given.value
          ORDER BY start DESC
          LIMIT 1
        )
      ))
      FROM json_each(?5) AS given
      LEFT JOIN ${tables.entityTable} AS e ON e.key = given.value
    )
  ) AS state`;

/** Parses the row of {@link selectStateSql}; `newestStates` becomes text to compare. */
function parseState({ pointLayout }: KindTables, [row]: readonly Row[]) {
  type State = { observationCount: number; newestStates: [unknown, lastChunk: Chunk | null][] };
  const { observationCount, newestStates }: State = JSON.parse(String(row?.["state"]));
  // A chunk is compared by its last point, because pruning can extend it.
  const states = newestStates.map(([entity, chunk]) => [
    entity,
    decodeChunks(chunk === null ? [] : [chunk], pointLayout).at(-1),
  ]);
  return { observationCount, newestStates: JSON.stringify(states) };
}
