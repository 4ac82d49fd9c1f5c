/**
 * The steps of retention. Each reads a short range of a history table and prunes it with one write.
 * What is left of a range is appended to the chunk before it, so repeated pruning doesn't make
 * chunks small.
 */
import type { Row } from "@libsql/client";
import type { EntityKind } from "../../../core/entity-kinds.ts";
import { applyRetentionBounds, type RetentionBounds } from "../../../core/retention.ts";
import { LAST_INSTANT } from "../../../core/time.ts";
import { recordHistoryRewrites } from "./change-log.ts";
import { encodeChunks, decodeChunks, type Chunk } from "./chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { writeOptimistically } from "./optimistic-write.ts";
import { deleteChunks, upsertChunks, type ChunkPosition, type ChunkWrite } from "./chunk-sql.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { createRetentionSql } from "./retention-sql.ts";

// Limits of a step, so that it takes a few milliseconds.
export const STEP_MAX_OBSERVATIONS = 1000;
export const STEP_MAX_CHUNKS = 100;
export const STEP_MAX_ENTITIES = 25;

/** Before all chunks. */
export const FIRST_POSITION: ChunkPosition = { key: 0, start: Number.MIN_SAFE_INTEGER };

/** A range of a history table: the chunks that start in it. */
export interface ChunkRange {
  /** Excluded. */
  readonly from: ChunkPosition;
  /** Included. */
  readonly to: ChunkPosition;
  /** The keys of the entities whose chunks these are. */
  readonly keys: readonly number[];
  readonly observationCount: number;
  readonly earliestInstant: number;
}

/** What a step did, with its proof: what the table held before and after, in one transaction. */
export interface PruneResult {
  readonly found: number;
  /** How many observations the step decided to remove. */
  readonly removed: number;
  /** How many are left, as the table says. */
  readonly left: number;
  /** Whether the row and the newest point of each entity are the same as before. */
  readonly isStateUntouched: boolean;
}

export type RetentionSteps = ReturnType<typeof createRetentionSteps>;

/** Creates the steps of a kind. */
export function createRetentionSteps(database: Database, kind: EntityKind) {
  const tables = KIND_TABLES[kind];
  const sql = createRetentionSql(tables, STEP_MAX_CHUNKS + 1);
  const readPlan = async (range: ChunkRange, bounds: RetentionBounds): Promise<PrunePlan> => {
    const chunks = await database.queryJson<EntityChunk[]>(sql.selectChunks, toArgs(range));
    return createPrunePlan(tables, bounds, range.from, chunks ?? []);
  };
  return {
    /** Finds where the last chunk starts; `undefined` if there is none. */
    findLastPosition: () => database.queryJson<ChunkPosition>(sql.selectLastPosition, []),

    /** Finds the range after `from`, up to `to` at most; `undefined` if there is none. */
    async findNextRange(from: ChunkPosition, to: ChunkPosition): Promise<ChunkRange | undefined> {
      const args = toArgs({ from, to });
      return createRange(from, (await database.queryJson(sql.selectHeaders, args)) ?? []);
    },

    /** Counts what {@link prune} would remove. */
    async countRemovable(range: ChunkRange, bounds: RetentionBounds): Promise<number> {
      return (await readPlan(range, bounds)).removed;
    },

    /** Removes what the bounds don't keep of the range as it is at the time of the write. */
    async prune(range: ChunkRange, bounds: RetentionBounds): Promise<PruneResult> {
      const { plan, results } = await writeOptimistically(database, async () => {
        const { deleted, written, ...counts } = await readPlan(range, bounds);
        const args = [...toArgs(range), JSON.stringify(counts.keys)];
        const selectState = { sql: sql.selectRangeState, args };
        const statements = [
          deleteChunks(tables, deleted),
          upsertChunks(tables, "key", written),
          selectState,
        ];
        return {
          ...counts,
          selectState,
          before: parseRangeState(tables, await database.queryRows(selectState)),
          recordChange: recordHistoryRewrites(kind, [...new Set(deleted.map(({ key }) => key))]),
          statements: deleted.length === 0 ? [] : statements,
        };
      });
      const { found, removed, before, selectState, statements } = plan;
      if (statements.length === 0) return { found, removed, left: found, isStateUntouched: true };
      // If the response to the write was lost, the state is read again, a little later.
      const rows = results.at(-1)?.rows ?? (await database.queryRows(selectState));
      const after = parseRangeState(tables, rows);
      return {
        found,
        removed,
        left: found - (before.observationCount - after.observationCount),
        isStateUntouched: before.newestStates === after.newestStates,
      };
    },
  };
}

function toArgs({ from, to }: Pick<ChunkRange, "from" | "to">): number[] {
  return [from.key, from.start, to.key, to.start];
}

/** A chunk without its points. */
interface ChunkHeader extends ChunkPosition {
  readonly size: number;
}

/** Takes the chunks for one step from the front of `headers`. */
function createRange(from: ChunkPosition, headers: readonly ChunkHeader[]): ChunkRange | undefined {
  const keys = new Set<number>();
  let rows = 0;
  const selected = headers.slice(0, STEP_MAX_CHUNKS).filter(({ key, size }, index) => {
    keys.add(key);
    rows += size;
    return index === 0 || (keys.size <= STEP_MAX_ENTITIES && rows <= STEP_MAX_OBSERVATIONS);
  });
  const [last, next] = [selected.at(-1), headers[selected.length]];
  if (last === undefined) return undefined;
  return {
    from,
    // Up to the next chunk, because rewritten chunks can start at any instant before it.
    to: { key: last.key, start: next?.key === last.key ? next.start - 1 : LAST_INSTANT },
    keys: [...new Set(selected.map(({ key }) => key))],
    observationCount: selected.reduce((sum, { size }) => sum + size, 0),
    earliestInstant: selected.reduce((least, { start }) => Math.min(least, start), Infinity),
  };
}

interface EntityChunk extends Chunk {
  readonly key: number;
  /** Where the next chunk of the entity starts; `null` if this is the last one. */
  readonly nextStart: number | null;
}

interface PrunePlan {
  readonly found: number;
  readonly removed: number;
  /** The keys of the entities in the range. */
  readonly keys: readonly number[];
  readonly deleted: readonly ChunkPosition[];
  readonly written: readonly ChunkWrite<number>[];
}

/**
 * Decides what the bounds keep of a range. Chunks that are kept as a whole are not rewritten.
 *
 * @param from Where the range begins.
 * @param candidates Its chunks, and the one before it.
 */
function createPrunePlan(
  { countColumns: { size: width } }: KindTables,
  bounds: RetentionBounds,
  from: ChunkPosition,
  candidates: readonly EntityChunk[],
): PrunePlan {
  const isPrevious = ({ key, start }: EntityChunk) => key === from.key && start <= from.start;
  const previous = candidates.find(isPrevious);
  const chunks = candidates.filter((chunk) => !isPrevious(chunk));
  const deleted: ChunkPosition[] = [];
  const written: ChunkWrite<number>[] = [];
  let removed = 0;
  const oldChunks = chunks.filter(({ start }) => start < bounds.rawFrom);
  for (const [entity, entityChunks] of Map.groupBy(oldChunks, ({ key }) => key)) {
    const points = decodeChunks(entityChunks, width);
    const kept = applyRetentionBounds(points, bounds, entityChunks.at(-1)?.nextStart ?? undefined);
    if (kept.length === points.length) continue;
    removed += points.length - kept.length;
    for (const { start } of entityChunks) deleted.push({ key: entity, start });
    const lastChunk = previous?.key === entity ? previous : undefined;
    for (const chunk of encodeChunks(kept, width, lastChunk)) {
      written.push({ entity, chunk });
    }
  }
  return {
    found: chunks.reduce((sum, { size }) => sum + size, 0),
    removed,
    keys: [...new Set(chunks.map(({ key }) => key))],
    deleted,
    written,
  };
}

/** Reads a row of `selectRangeState`; `newestStates` is text to compare. */
function parseRangeState({ countColumns }: KindTables, [row]: readonly Row[]) {
  const { observationCount, newestStates }: RangeState = JSON.parse(String(row?.["state"]));
  const states = newestStates.map(({ row: entityRow, lastChunk }) => [
    entityRow,
    // Compared by its last point, because pruning can extend the chunk.
    lastChunk === null ? null : decodeChunks([lastChunk], countColumns.size).at(-1),
  ]);
  return { observationCount, newestStates: JSON.stringify(states) };
}

interface RangeState {
  readonly observationCount: number;
  readonly newestStates: readonly { readonly row: unknown; readonly lastChunk: Chunk | null }[];
}
