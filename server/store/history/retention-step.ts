/** A step of retention: reads a few chunks, prunes them with one write, and proves the result. */
import type { Row } from "@libsql/client";
import { applyRetentionBounds, type RetentionBounds } from "../../../core/retention.ts";
import { LAST_INSTANT } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import type { KindTables } from "../tables/entity-sql.ts";
import { decodeChunks, encodeChunks, type Chunk } from "./chunk-codec.ts";
import { CHUNK_JSON, deleteChunks, upsertChunks, type ChunkPosition } from "./chunk-sql.ts";
import { updateGainsAfterPruning } from "./gains.ts";
import { recordHistoryRewrites, writeOptimistically } from "./optimistic-write.ts";

// Limits of a step, so that it takes a few milliseconds.
const STEP_MAX_OBSERVATIONS = 1000;
const STEP_MAX_CHUNKS = 25;

interface EntityChunk extends Chunk, ChunkPosition {
  readonly id: string;
  /** Where the next chunk of the entity starts; `null` if this is the last one. */
  readonly nextStart: number | null;
}

/** Chunks of a history table; `from` is excluded. */
type ChunkRange = Readonly<Record<"from" | "to", ChunkPosition>>;

/**
 * Reads the first chunks of a range, as many as a step takes, and decides which points the bounds
 * keep. Chunks that are kept as a whole are not rewritten. The rest of others is appended to the
 * chunk before them, so repeated pruning doesn't make chunks small.
 */
export async function readPlan(
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
  const written: (Chunk & { readonly id: string })[] = [];
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

/** Prunes the first chunks of a range, and compares the tables before and after the write. */
export async function prune(
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
    if (removed === 0) return { ...current, selectState, before, recordChange, statements: [] };
    const statements = [
      deleteChunks(tables, deleted),
      upsertChunks(tables, written),
      ...(await updateGainsAfterPruning(database, tables, deleted, bounds)),
      selectState,
    ];
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

/**
 * Whether a chunk is in the range of the arguments ?1 to ?4, or the one before it: that one can be
 * extended, so a step reads and compares it too.
 */
const isInRangeOrPreviousSql = ({ historyTable, entityColumn }: KindTables) => `
  (${entityColumn}, start) >= (?1, ifnull((
    SELECT max(start) FROM ${historyTable} WHERE ${entityColumn} = ?1 AND start <= ?2
  ), ?2)) AND (${entityColumn}, start) <= (?3, ?4)`;

const selectStepChunksSql = (tables: KindTables, limit: number) => `
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
    LIMIT ${limit}
  ) AS page`;

/** Selects the state of a range; ?5 is a JSON array of the keys of the entities in it. */
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
  type State = {
    observationCount: number;
    newestStates: [row: unknown, lastChunk: Chunk | null][];
  };
  const { observationCount, newestStates }: State = JSON.parse(String(row?.["state"]));
  // A chunk is compared by its last point, because pruning can extend it.
  const states = newestStates.map(([entityRow, lastChunk]) => [
    entityRow,
    decodeChunks(lastChunk === null ? [] : [lastChunk], pointLayout).at(-1),
  ]);
  return { observationCount, newestStates: JSON.stringify(states) };
}
