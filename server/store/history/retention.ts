/**
 * Applies the retention policy: walks through all observations in steps of a few milliseconds with
 * pauses between, and proves each step. A step reads a few chunks and prunes them with one write.
 * Nothing is remembered between walks, so one that was ended is simply started again.
 */
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
import { decodeChunks, encodeChunks } from "./chunk-codec.ts";
import { deleteChunks, upsertChunks, type ChunkPosition, type ChunkWrite } from "./chunk-sql.ts";
import { updateGainsAfterPruning } from "./gains.ts";
import { recordHistoryRewrites, writeOptimistically } from "./optimistic-write.ts";
import {
  parseState,
  selectLastPositionSql,
  selectStateSql,
  selectStepChunksSql,
  type EntityChunk,
} from "./retention-sql.ts";

/** The result of one run of the retention policy. */
export interface RetentionReport {
  /** Whether it only counted the observations that it would remove. */
  readonly isDryRun: boolean;
  readonly kinds: readonly {
    readonly kind: EntityKind;
    /** The rule as the setting writes it; `all` if there is none. */
    readonly rule: string;
    /** Entities that have observations. */
    readonly entities: number;
    /** Observations before the run, removed (or to be removed, in a dry run), and after it. */
    readonly before: number;
    readonly removed: number;
    readonly after: number;
  }[];
  /** Observations that a run lost, or a newest state that it changed. */
  readonly faults: readonly { readonly kind: EntityKind; readonly problem: string }[];
}

/** Applies retention step by step; yields how many observations each step examined. */
export type RetentionRun = AsyncGenerator<number, RetentionReport>;

const PAUSE_MAX_MS = 100;

// Limits of a step, so that it takes a few milliseconds.
export const STEP_MAX_OBSERVATIONS = 1000;
export const STEP_MAX_CHUNKS = 25;

const KEEP_ALL: RetentionBounds = { rawFrom: FIRST_INSTANT, dailyFrom: FIRST_INSTANT };

/**
 * Applies a policy. The caller drives it, and can stop after any step.
 *
 * @param options.now Milliseconds since 1970 UTC.
 * @param options.isDryRun Whether it only counts the observations that it would remove.
 * @param options.pauseRatio The pause after a step, as a multiple of the time that the step took.
 */
export async function* applyRetention(
  database: Database,
  options: {
    readonly policy: RetentionPolicy;
    readonly now: number;
    readonly isDryRun: boolean;
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
    let isStateUntouched = true;
    const tables = KIND_TABLES[kind];
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
      // The step before can end within the history of the first entity of this one.
      totals.entities += result.keys.filter((key) => key !== from.key).length;
      totals.before += result.found;
      totals.removed += result.removed;
      totals.after += result.left;
      isStateUntouched &&= result.isStateUntouched;
      yield result.found;
      const tookMs = performance.now() - startedAt;
      await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * tookMs));
      from = result.to;
    }
    kinds.push({ kind, rule: formatRetentionRule(rule), ...totals });
    const { before, removed, after } = totals;
    if (before !== removed + after) {
      const problem = `its steps found ${before} observations, removed ${removed} and left ${after}`;
      faults.push({ kind, problem });
    }
    if (!isStateUntouched) faults.push({ kind, problem: "a step changed a newest state" });
  }
  return { isDryRun, kinds, faults };
}

/** Chunks of a history table, which is sorted by entity and start: `from` is excluded. */
interface ChunkRange {
  readonly from: ChunkPosition;
  readonly to: ChunkPosition;
}

/**
 * Reads the first chunks of a range, as many as a step takes, and decides which points the bounds
 * keep. Chunks that are kept as a whole are not rewritten. The rest of others is appended to the
 * chunk before them, so repeated pruning doesn't make chunks small.
 */
async function readPlan(
  database: Database,
  tables: KindTables,
  bounds: RetentionBounds,
  { from, to }: ChunkRange,
) {
  const sql = selectStepChunksSql(tables, STEP_MAX_CHUNKS + 1);
  const args = [from.key, from.start, to.key, to.start];
  const read = (await database.queryJson<EntityChunk[]>(sql, args)) ?? [];
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
  const written: ChunkWrite[] = [];
  let removed = 0;
  const { pointLayout } = tables;
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

/**
 * Prunes the first chunks of a range, as they are at the time of the write. The proof is the state of
 * the tables before and after, in one transaction.
 */
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
    const rewrittenIds = [...new Set(deleted.map(({ id }) => id))];
    const recordChange = recordHistoryRewrites(tables.kind, rewrittenIds);
    const createStatements = async () => [
      deleteChunks(tables, deleted),
      upsertChunks(tables, written),
      ...(await updateGainsAfterPruning(database, tables, deleted, bounds)),
      selectState,
    ];
    const statements = removed === 0 ? [] : await createStatements();
    return { ...current, selectState, before, recordChange, statements };
  });
  const { before, selectState } = plan;
  // If the response to the write was lost, the state is read again, a little later.
  const rows = results.at(-1)?.rows ?? (await database.queryRows(selectState));
  const after = parseState(tables, rows);
  return {
    ...plan,
    left: plan.found - (before.observationCount - after.observationCount),
    isStateUntouched: before.newestStates === after.newestStates,
  };
}
