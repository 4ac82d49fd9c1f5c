/**
 * The steps by which histories are thinned: short stretches of a table of histories, in its own
 * order, each looked at with one read and thinned with one write. What is left of a stretch is
 * packed anew, onto the chunk before it, so chunks do not become small however often it is thinned.
 */
import type { Row } from "@libsql/client";
import { getTableColumns } from "drizzle-orm";
import type { EntityKind } from "../../../core/entity-kinds.ts";
import { applyRetentionBounds, type RetentionBounds } from "../../../core/retention.ts";
import { LAST_INSTANT } from "../../../core/time.ts";
import { recordHistoryRewrites } from "./change-log.ts";
import { encodeChunks, decodeChunks, type Chunk } from "./chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { writeOptimistically } from "./optimistic-write.ts";
import {
  deleteChunksSql,
  KIND_TABLES,
  upsertChunksSql,
  type KindTables,
} from "../tables/entity-sql.ts";
import * as tables from "../tables/entity-tables.ts";

/** Observations, the chunks they lie in, and entities, that a step is about at most. */
export const STEP_MAX_ROWS = 1000;
export const STEP_MAX_CHUNKS = 100;
export const STEP_MAX_ENTITIES = 25;

/** A place in a table of histories: the key of an entity and an instant, where a chunk may start. */
export type ChunkPosition = readonly [key: number, start: number];

/** Before all places. */
export const MIN_POSITION: ChunkPosition = [0, Number.MIN_SAFE_INTEGER];

/** A stretch of a table of histories: the chunks that start in it. */
export interface ChunkRange {
  /** Excluded. */
  readonly from: ChunkPosition;
  /** Included. */
  readonly to: ChunkPosition;
  /** The entities whose chunks these are. */
  readonly keys: readonly number[];
  /** How many observations they hold. */
  readonly observationCount: number;
  /** The earliest instant in it. */
  readonly earliestInstant: number;
}

/** What a write did to a stretch. */
export interface PruneResult {
  readonly found: number;
  /** What was decided to be. */
  readonly removed: number;
  /** By what the table held before and after. */
  readonly left: number;
  /** Whether the newest state of each entity is the same after as it was before. */
  readonly isStateUntouched: boolean;
  /** Changes that were noted. */
  readonly told: number;
}

/** Reads and writes the stretches of a kind. */
export function createRetentionSteps(database: Database, kind: EntityKind) {
  const layout = KIND_TABLES[kind];
  const sql = createSql(layout);
  const toRangeArgs = ({ from, to }: ChunkRange) => [...from, ...to];
  const plan = async (stretch: ChunkRange, bounds: RetentionBounds) => {
    const chunks = await database.queryJson<EntityChunk[]>(sql.known, toRangeArgs(stretch));
    return createPrunePlan(layout, bounds, stretch.from, chunks ?? []);
  };
  return {
    /** The last place where a chunk starts; `undefined` where there is none. */
    async findLastPosition(): Promise<ChunkPosition | undefined> {
      return database.queryJson<ChunkPosition>(sql.last, []);
    },

    /** Finds the stretch behind a place, up to another; `undefined` where there is nothing more. */
    async findNextRange(from: ChunkPosition, upTo: ChunkPosition): Promise<ChunkRange | undefined> {
      const found = await database.queryJson<ChunkHeader[]>(sql.find, [...from, ...upTo]);
      return createRange(from, found ?? []);
    },

    /** The newest state of entities as text, a line each: their rows and newest observations. */
    async readState(keys: readonly number[]): Promise<string> {
      const states = await database.queryJson<NewestState[]>(sql.state, [JSON.stringify(keys)]);
      return formatState(layout, states ?? []);
    },

    /** Counts what {@link thin} would remove. */
    async countRemovable(stretch: ChunkRange, bounds: RetentionBounds): Promise<number> {
      return (await plan(stretch, bounds)).removed;
    },

    /** Removes what the bounds leave out, which is decided as the observations are by then. */
    async prune(stretch: ChunkRange, bounds: RetentionBounds): Promise<PruneResult> {
      const { plan: decision, results } = await writeOptimistically(database, async () => {
        const planned = await plan(stretch, bounds);
        const { keys, rewritten, dropped, put } = planned;
        const look = { sql: sql.look, args: [...toRangeArgs(stretch), JSON.stringify(keys)] };
        const statements = [
          { sql: deleteChunksSql(layout), args: [JSON.stringify(dropped)] },
          { sql: upsertChunksSql(layout, "key"), args: [JSON.stringify(put)] },
          look,
        ];
        return {
          ...planned,
          look,
          before: parseRangeState(layout, await database.queryRows(look)),
          recordChange: recordHistoryRewrites(kind, rewritten),
          statements: rewritten.length === 0 ? [] : statements,
        };
      });
      const { found, removed, before, look, statements } = decision;
      const isWritten = statements.length > 0;
      // Where the answer to the write was lost, so was its look: it is taken again, and what others
      // did by then is not told apart.
      const rows = results.at(-1)?.rows ?? (isWritten ? await database.queryRows(look) : undefined);
      const after = rows === undefined ? before : parseRangeState(layout, rows);
      return {
        found,
        removed,
        left: found - (before.rows - after.rows),
        isStateUntouched: before.state === after.state,
        told: isWritten ? 1 : 0,
      };
    },
  };
}

/** A chunk without its points. */
type ChunkHeader = readonly [...ChunkPosition, size: number];

/** The stretch that begins a list of chunks, of which the last only tells what comes next. */
function createRange(from: ChunkPosition, headers: readonly ChunkHeader[]): ChunkRange | undefined {
  const keys = new Set<number>();
  let rows = 0;
  const selected = headers.slice(0, STEP_MAX_CHUNKS).filter(([key, , size], index) => {
    keys.add(key);
    rows += size;
    return index === 0 || (keys.size <= STEP_MAX_ENTITIES && rows <= STEP_MAX_ROWS);
  });
  const [last, next] = [selected.at(-1), headers[selected.length]];
  if (last === undefined) return undefined;
  const [key] = last;
  return {
    from,
    // Chunks may start anywhere before the next one once they are packed anew.
    to: [key, next?.[0] === key ? next[1] - 1 : LAST_INSTANT],
    keys: [...new Set(selected.map(([entityKey]) => entityKey))],
    observationCount: selected.reduce((sum, [, , size]) => sum + size, 0),
    earliestInstant: selected.reduce((least, [, start]) => Math.min(least, start), Infinity),
  };
}

/** A chunk, after its entity's key and the start of that entity's next chunk. */
type EntityChunk = readonly [key: number, next: number | null, ...chunk: Chunk];

/** What is to become of a stretch. */
interface PrunePlan {
  readonly found: number;
  readonly removed: number;
  /** The entities that are in it, and those that lose something. */
  readonly keys: readonly number[];
  readonly rewritten: readonly number[];
  /** As {@link deleteChunksSql} and {@link upsertChunksSql} take them. */
  readonly dropped: readonly ChunkPosition[];
  readonly put: readonly (readonly [key: number, ...chunk: Chunk])[];
}

/**
 * Finds what bounds leave of a stretch. Chunks that are raw as a whole stay as they are.
 *
 * @param from Where the stretch begins.
 * @param candidates Its chunks, and the one before it.
 */
function createPrunePlan(
  { countColumns: counts }: KindTables,
  bounds: RetentionBounds,
  [fromKey, fromStart]: ChunkPosition,
  candidates: readonly EntityChunk[],
): PrunePlan {
  const width = counts.size;
  const isPrevious = ([key, , start]: EntityChunk) => key === fromKey && start <= fromStart;
  const previous = candidates.find(isPrevious);
  const chunks = candidates.filter((chunk) => !isPrevious(chunk));
  const dropped: ChunkPosition[] = [];
  const put: [key: number, ...chunk: Chunk][] = [];
  let removed = 0;
  const oldChunks = chunks.filter(([, , start]) => start < bounds.rawFrom);
  for (const [key, entityChunks] of Map.groupBy(oldChunks, ([entityKey]) => entityKey)) {
    const points = decodeChunks(entityChunks.map(toChunk), width);
    const kept = applyRetentionBounds(points, bounds, entityChunks.at(-1)?.[1] ?? undefined);
    if (kept.length === points.length) continue;
    removed += points.length - kept.length;
    const appendTo = previous?.[0] === key ? toChunk(previous) : undefined;
    for (const [, , start] of entityChunks) dropped.push([key, start]);
    for (const chunk of encodeChunks(kept, width, appendTo)) put.push([key, ...chunk]);
  }
  return {
    found: chunks.reduce((sum, [, , , size]) => sum + size, 0),
    removed,
    keys: [...new Set(chunks.map(([key]) => key))],
    rewritten: [...new Set(dropped.map(([key]) => key))],
    dropped,
    put,
  };
}

function toChunk([, , ...chunk]: EntityChunk): Chunk {
  return chunk;
}

/** The row of an entity, and its last chunk. */
type NewestState = readonly [entity: unknown, chunk: Chunk | readonly [null, null, null]];

/** Newest states as text, a line each; of a chunk its last point counts, however it is packed. */
function formatState({ countColumns: counts }: KindTables, states: readonly NewestState[]): string {
  const lines = states.map(([entity, [start, size, points]]) => {
    const last = start === null ? [] : decodeChunks([[start, size, points]], counts.size).slice(-1);
    return JSON.stringify([entity, ...last]);
  });
  return lines.join("\n");
}

/** What a look at a stretch found: how many observations, and the newest states. */
function parseRangeState(layout: KindTables, [row]: readonly Row[]) {
  const [rows, states]: [number, NewestState[]] = JSON.parse(String(row?.["seen"]));
  return { rows, state: formatState(layout, states) };
}

const ENTITY_TABLES = {
  channel: tables.channels,
  short: tables.shorts,
  user: tables.users,
  tweet: tables.tweets,
} as const;

/** The first four arguments are the places that a stretch lies between, a fifth its entities. */
function createSql({
  kind,
  entityTable: entities,
  historyTable: histories,
  entityColumn: owner,
}: KindTables) {
  const until = `(${owner}, start) <= (?3, ?4)`;
  const within = `(${owner}, start) > (?1, ?2) AND ${until}`;
  // With the chunk before, which may be filled.
  const startBefore = `(SELECT max(start) FROM ${histories} WHERE ${owner} = ?1 AND start <= ?2)`;
  const withinOrPrevious = `(${owner}, start) >= (?1, ifnull(${startBefore}, ?2)) AND ${until}`;
  const next =
    `(SELECT min(start) FROM ${histories} AS later ` +
    `WHERE later.${owner} = page.${owner} AND later.start > page.start)`;
  const entityColumns = Object.values(getTableColumns(ENTITY_TABLES[kind])).map(
    ({ name }) => `e.${name}`,
  );
  const state = (keys: string) =>
    `SELECT json_group_array(json_array(json_array(${entityColumns.join(", ")}), ` +
    `json_array(h.start, h.size, h.points))) FROM json_each(${keys}) AS given ` +
    `LEFT JOIN ${entities} AS e ON e.key = given.value ` +
    `LEFT JOIN ${histories} AS h ON h.${owner} = given.value AND h.start = ` +
    `(SELECT max(start) FROM ${histories} WHERE ${owner} = given.value)`;
  return {
    last:
      `SELECT json_array(${owner}, start) FROM ${histories} ` +
      `ORDER BY ${owner} DESC, start DESC LIMIT 1`,
    find:
      `SELECT json_group_array(json_array(${owner}, start, size)) FROM ` +
      `(SELECT ${owner}, start, size FROM ${histories} WHERE ${within} ` +
      `ORDER BY ${owner}, start LIMIT ${STEP_MAX_CHUNKS + 1})`,
    known:
      `SELECT json_group_array(json_array(${owner}, ${next}, start, size, points)) FROM ` +
      `(SELECT * FROM ${histories} WHERE ${withinOrPrevious} ORDER BY ${owner}, start) AS page`,
    state: state("?1"),
    look:
      `SELECT json_array((SELECT ifnull(sum(size), 0) FROM ${histories} WHERE ${withinOrPrevious}), ` +
      `(${state("?5")})) AS seen`,
  };
}
