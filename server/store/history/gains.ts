/**
 * Computes the gains that the rows of channels and users keep, for writes and after retention.
 *
 * A gain compares the newest count with the newest known count from N to 2N days before, its
 * baseline. In an import in the order of time, the baseline is most often among the points to write
 * or in the last chunk, which the writer has read. Otherwise the chunks of the instants N days
 * before are read; where they don't tell, all chunks back to 2N days are.
 */
import {
  computeGain,
  computeGainBaseline,
  GAIN_PERIOD_DAYS,
  type TimeRange,
} from "../../../core/growth.ts";
import { applyRetentionBounds, type RetentionBounds } from "../../../core/retention.ts";
import { FIRST_INSTANT } from "../../../core/time.ts";
import type { Database, Statement } from "../database/database.ts";
import { jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { toColumnName } from "../tables/entity-tables.ts";
import { decodeChunks, forEachPoint, type Chunk, type Point } from "./chunk-codec.ts";
import { selectChunksSql, selectChunkStartSql, type ChunkPosition } from "./chunk-sql.ts";

/** An entity whose points are about to be written. */
interface GainingEntity {
  readonly newest: Point;
  /** Oldest first; they replace stored points of the same instants. */
  readonly points: Iterable<Point>;
  /** The last chunk is given if all of the points are newer than it. */
  readonly stored: { readonly key: number; readonly lastChunk: Chunk | null } | undefined;
}

/** Computes the gains of each entity as they will be once its points are written, in order. */
export async function computeGainsAfterWrite(
  database: Database,
  tables: KindTables,
  entities: readonly GainingEntity[],
): Promise<(number | null)[][]> {
  if (tables.gains.length === 0) return [];
  const results = entities.map((entity) => {
    const lastChunk = entity.stored?.lastChunk;
    if (lastChunk === null) return undefined;
    const chunks = lastChunk === undefined ? [] : [lastChunk];
    return computeGains(tables, entity, { ...entity.newest, chunks }, "end");
  });
  for (const part of ["nearest", "all"] as const) {
    const unresolved = entities.flatMap(({ stored, newest }, index) =>
      stored === undefined || results[index] !== undefined
        ? []
        : [[stored.key, newest.at] as const],
    );
    if (unresolved.length === 0) break;
    const rows = await readGainRows(database, tables, part, unresolved);
    for (const [index, entity] of entities.entries()) {
      results[index] ??= computeGains(tables, entity, rows.get(entity.stored?.key), part);
    }
  }
  return results.map((result) => result ?? []);
}

/** Computes gains from a part of the stored chunks; `undefined` if other chunks can matter. */
function computeGains(
  tables: KindTables,
  entity: GainingEntity,
  stored: (Point & { readonly chunks: readonly Chunk[] }) | undefined,
  part: "end" | keyof typeof STEP_ENTITIES,
): (number | null)[] | undefined {
  const newest = stored !== undefined && stored.at > entity.newest.at ? stored : entity.newest;
  const chunks = stored?.chunks ?? [];
  const baselines = createBaselines(tables, newest.at);
  const isKnown = ({ count, countIndex }: Baseline) =>
    count !== null || newest.counts[countIndex] === null;
  if (part === "end") {
    updateFromPoints(baselines, entity.points);
    // The last chunk is decoded only for baselines that no newer point gives.
    if (!baselines.every(isKnown)) updateFromChunks(baselines, chunks, tables);
  } else {
    updateFromChunks(baselines, chunks, tables);
    updateFromPoints(baselines, entity.points);
  }
  const isFinal = ({ countIndex, count, at, from, to }: Baseline) => {
    if (newest.counts[countIndex] === null) return true;
    const nearest = part === "end" ? chunks[0] : chunks.findLast(({ start }) => start <= to);
    if (nearest === undefined || nearest.start <= from) return true;
    // A count from before that chunk can be older than a count of a chunk that was not read.
    return count !== null && at >= nearest.start;
  };
  const isResolved = part === "all" || baselines.every(isFinal);
  return isResolved ? compareWithBaselines(newest, baselines) : undefined;
}

/** Creates the statement that sets the gains of stored entities by the points that are kept. */
export async function updateGainsAfterPruning(
  database: Database,
  tables: KindTables,
  pruned: readonly ChunkPosition[],
  bounds: RetentionBounds,
): Promise<Statement[]> {
  if (tables.gains.length === 0) return [];
  const keys = new Set(pruned.map(({ key }) => key));
  const entities = Array.from(keys, (key) => [key, FIRST_INSTANT] as const);
  const rows = await readGainRows(database, tables, "all", entities);
  const updates = Array.from(rows.values(), (row) => {
    const baselines = createBaselines(tables, row.at);
    const points = decodeChunks(row.chunks, tables.pointLayout);
    updateFromPoints(baselines, applyRetentionBounds(points, bounds));
    return [row.key, ...compareWithBaselines(row, baselines)];
  });
  const assignments = tables.gains.map(
    ({ name }, index) => `${toColumnName(name)} = ${jsonExtractSql(index + 1, "given.value")}`,
  );
  const sql = `
    UPDATE ${tables.entityTable}
    SET ${assignments.join(", ")}
    FROM json_each(?) AS given
    WHERE ${tables.entityTable}.key = ${jsonExtractSql(0, "given.value")}`;
  return [{ sql, args: [JSON.stringify(updates)] }];
}

type Baseline = KindTables["gains"][number] & TimeRange & { at: number; count: number | null };

function createBaselines({ gains }: KindTables, newestAt: number): Baseline[] {
  return gains.map((gain) => {
    const { from, to } = computeGainBaseline(newestAt, gain.days);
    return { ...gain, from, to, at: -Infinity, count: null };
  });
}

/** Takes points, oldest first; points of a later call replace others of the same instants. */
function updateFromPoints(baselines: readonly Baseline[], points: Iterable<Point>): void {
  for (const { at, counts } of points) updateBaselines(baselines, at, counts);
}

function updateFromChunks(
  baselines: readonly Baseline[],
  chunks: readonly Chunk[],
  { pointLayout }: KindTables,
): void {
  for (const chunk of chunks) {
    forEachPoint(chunk, pointLayout, (at, counts) => updateBaselines(baselines, at, counts));
  }
}

function updateBaselines(
  baselines: readonly Baseline[],
  at: number,
  counts: readonly (number | null)[],
): void {
  for (const baseline of baselines) {
    if (at < baseline.from || at > baseline.to || at < baseline.at) continue;
    const count = counts[baseline.countIndex] ?? null;
    if (count === null) continue;
    baseline.at = at;
    baseline.count = count;
  }
}

const compareWithBaselines = (newest: Point, baselines: readonly Baseline[]) =>
  baselines.map(({ countIndex, count }) => computeGain(newest.counts[countIndex] ?? null, count));

/** The newest stored point of an entity, and the chunks that its gains need, in order. */
type GainRow = Point & Readonly<{ key: number; chunks: readonly Chunk[] }>;

/**
 * How many entities are read at once. A libSQL server returns no value of 5 MB: with an observation
 * a minute, all chunks of one entity that can matter have 0.9 MB.
 */
const STEP_ENTITIES = { nearest: 200, all: 5 };

/** Selects the chunks at the ends of the ranges, or all from the start of the longest range on. */
function selectRowsSql(tables: KindTables, part: keyof typeof STEP_ENTITIES): string {
  const newestAt = `max(e.observed_at, ${jsonExtractSql(1, "given.value")})`;
  const selectStart = (offset: number) =>
    selectChunkStartSql(tables, "e.key", `${newestAt} + ${offset}`);
  const ranges = Object.values(GAIN_PERIOD_DAYS).map((days) => computeGainBaseline(0, days));
  const condition =
    part === "nearest"
      ? `start IN (${ranges.map(({ to }) => selectStart(to)).join(", ")})`
      : `start >= ${selectStart(Math.min(...ranges.map(({ from }) => from)))}`;
  const counts = tables.counts.map((name) => `e.${toColumnName(name)}`);
  return `
    SELECT json_group_array(json_object(
      'key', e.key,
      'at', e.observed_at,
      'counts', json_array(${counts.join(", ")}),
      'chunks', ${selectChunksSql(tables, "e.key", condition)}
    ))
    FROM json_each(?) AS given
    CROSS JOIN ${tables.entityTable} AS e ON e.key = ${jsonExtractSql(0, "given.value")}`;
}

async function readGainRows(
  database: Database,
  tables: KindTables,
  part: keyof typeof STEP_ENTITIES,
  entities: readonly (readonly [key: number, newestAt: number])[],
): Promise<ReadonlyMap<number | undefined, GainRow>> {
  const sql = selectRowsSql(tables, part);
  const rows = new Map<number, GainRow>();
  for (let from = 0; from < entities.length; from += STEP_ENTITIES[part]) {
    if (from > 0) await yieldToEventLoop();
    const step = JSON.stringify(entities.slice(from, from + STEP_ENTITIES[part]));
    for (const row of (await database.queryJson<GainRow[]>(sql, [step])) ?? []) {
      rows.set(row.key, row);
    }
  }
  return rows;
}
