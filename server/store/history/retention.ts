/**
 * Applies the retention policy: walks through all observations in steps of a few milliseconds with
 * pauses between, and proves each step. A step reads a few chunks and prunes them with one write.
 * Nothing is remembered between walks, so one that was ended is simply started again.
 */
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import {
  applyRetentionBounds,
  formatRetentionRule,
  computeRetentionBounds,
  type RetentionBounds,
  type RetentionPolicy,
} from "../../../core/retention.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../../core/time.ts";
import type { KindRetentionReport, RetentionFault, RetentionRun } from "./retention-report.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { recordHistoryRewrites } from "./change-log.ts";
import { decodeChunks, encodeChunks } from "./chunk-codec.ts";
import { deleteChunks, upsertChunks, type ChunkPosition, type ChunkWrite } from "./chunk-sql.ts";
import { updateGainsAfterPruning } from "./gains.ts";
import { writeOptimistically } from "./optimistic-write.ts";
import {
  parseState,
  selectLastPositionSql,
  selectStateSql,
  selectStepChunksSql,
  type EntityChunk,
} from "./retention-sql.ts";

export interface RetentionOptions {
  readonly policy: RetentionPolicy;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  /** Whether it only counts the observations that it would remove. */
  readonly isDryRun: boolean;
  /** The pause after a step, as a multiple of the time that the step took. */
  readonly pauseRatio: number;
  /** The kinds that are walked through; all if left out. */
  readonly kinds?: readonly EntityKind[];
}

const PAUSE_MAX_MS = 100;

// Limits of a step, so that it takes a few milliseconds.
export const STEP_MAX_OBSERVATIONS = 1000;
export const STEP_MAX_CHUNKS = 25;

const KEEP_ALL: RetentionBounds = { rawFrom: FIRST_INSTANT, dailyFrom: FIRST_INSTANT };

/**
 * Applies a policy. The caller drives it, and can stop after any step.
 *
 * @returns Yields the number of observations of each step; returns the report.
 */
export async function* applyRetention(database: Database, options: RetentionOptions): RetentionRun {
  const { policy, now, isDryRun, pauseRatio } = options;
  const kinds: KindRetentionReport[] = [];
  const faults: RetentionFault[] = [];
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
      const result: StepResult =
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

/** Chunks of a history table, which is sorted by entity and start. */
interface ChunkRange {
  /** Excluded. */
  readonly from: ChunkPosition;
  /** Included. */
  readonly to: ChunkPosition;
}

/** The plan of a step for its range. */
interface PrunePlan extends ChunkRange {
  /** The keys of the entities in the range. */
  readonly keys: readonly number[];
  /** How many observations the range has. */
  readonly found: number;
  readonly removed: number;
  readonly deleted: readonly EntityChunk[];
  readonly written: readonly ChunkWrite[];
}

/** The result of a step, with its proof: the tables before and after, in one transaction. */
interface StepResult extends PrunePlan {
  /** How many observations are left, as the table says. */
  readonly left: number;
  /** Whether the row and the newest point of each entity are the same as before. */
  readonly isStateUntouched: boolean;
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
): Promise<PrunePlan> {
  const args = [from.key, from.start, to.key, to.start];
  const read =
    (await database.queryJson<EntityChunk[]>(
      selectStepChunksSql(tables, STEP_MAX_CHUNKS + 1),
      args,
    )) ?? [];
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
  const last = chunks.at(-1);
  return {
    from,
    // Up to the next chunk, because rewritten chunks can start at any instant before it.
    to:
      last === undefined ? to : { key: last.key, start: (last.nextStart ?? LAST_INSTANT + 1) - 1 },
    keys: [...new Set(chunks.map(({ key }) => key))],
    found,
    removed,
    deleted,
    written,
  };
}

/** Prunes the first chunks of a range, as they are at the time of the write. */
async function prune(
  database: Database,
  tables: KindTables,
  bounds: RetentionBounds,
  range: ChunkRange,
): Promise<StepResult> {
  const { plan, results } = await writeOptimistically(database, async () => {
    const current = await readPlan(database, tables, bounds, range);
    const { from, to, keys, deleted, written } = current;
    const args = [from.key, from.start, to.key, to.start, JSON.stringify(keys)];
    const selectState = { sql: selectStateSql(tables), args };
    const rewrittenIds = [...new Set(deleted.map(({ id }) => id))];
    return {
      ...current,
      selectState,
      before: parseState(tables, await database.queryRows(selectState)),
      recordChange: recordHistoryRewrites(tables.kind, rewrittenIds),
      statements:
        current.removed === 0
          ? []
          : [
              deleteChunks(tables, deleted),
              upsertChunks(tables, written),
              ...(await updateGainsAfterPruning(database, tables, deleted, bounds)),
              selectState,
            ],
    };
  });
  const { found, removed, before, selectState } = plan;
  if (removed === 0) return { ...plan, left: found, isStateUntouched: true };
  // If the response to the write was lost, the state is read again, a little later.
  const rows = results.at(-1)?.rows ?? (await database.queryRows(selectState));
  const after = parseState(tables, rows);
  return {
    ...plan,
    left: found - (before.observationCount - after.observationCount),
    isStateUntouched: before.newestStates === after.newestStates,
  };
}
