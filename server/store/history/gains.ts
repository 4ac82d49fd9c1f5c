/**
 * Computes gains: those that the rows of channels and users keep, for writes and after retention,
 * and the others for reads.
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
  type EntityGains,
  type TimeRange,
} from "../../../core/growth.ts";
import { applyRetentionBounds, type RetentionBounds } from "../../../core/retention.ts";
import { FIRST_INSTANT } from "../../../core/time.ts";
import type { DatabaseReads, Statement } from "../database/database.ts";
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
  /** Whether it is only read: then `newest` stays, also if a newer point is stored. */
  readonly isRead?: boolean;
}

/** Computes the gains of each entity as they will be once its points are written, in order. */
export async function computeGainsAfterWrite(
  database: DatabaseReads,
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
    const unresolved = entities.flatMap(({ stored, newest, isRead }, index) =>
      stored === undefined || results[index] !== undefined
        ? []
        : [[stored.key, newest.at, isRead ? 1 : 0] as const],
    );
    if (unresolved.length === 0) break;
    const rows = await readGainRows(database, tables, part, unresolved);
    for (const [index, entity] of entities.entries()) {
      results[index] ??= computeGains(tables, entity, rows.get(entity.stored?.key), part);
    }
  }
  return results.map((result) => result ?? []);
}

/**
 * Computes the gains of stored entities, by key and name.
 *
 * @param rows The newest points, as they were read before: a point that was stored since then, and
 * is newer, changes no gain.
 */
export async function readGains(
  database: DatabaseReads,
  tables: KindTables,
  rows: readonly (Point & { readonly key: number })[],
): Promise<ReadonlyMap<number, EntityGains>> {
  const entities = rows.map(({ key, at, counts }) => ({
    newest: { at, counts },
    points: [],
    stored: { key, lastChunk: null },
    isRead: true,
  }));
  const results = await computeGainsAfterWrite(database, tables, entities);
  const names = tables.gains.map(({ name }) => name);
  return new Map(
    rows.map(({ key }, index) => [
      key,
      Object.fromEntries(names.map((name, nth) => [name, results[index]?.[nth] ?? null])),
    ]),
  );
}

/** Computes gains from a part of the stored chunks; `undefined` if other chunks can matter. */
function computeGains(
  tables: KindTables,
  entity: GainingEntity,
  stored: (Point & { readonly chunks: readonly Chunk[] }) | undefined,
  part: "end" | keyof typeof STEP_ENTITIES,
): (number | null)[] | undefined {
  const isNewer = stored !== undefined && stored.at > entity.newest.at && entity.isRead !== true;
  const newest = isNewer ? stored : entity.newest;
  const chunks = stored?.chunks ?? [];
  const baselines = createBaselines(tables, newest.at);
  const isKnown = ({ count, countIndex }: Baseline) =>
    count !== null || newest.counts[countIndex] === null;
  if (part === "end") {
    updateFromPoints(baselines, entity.points);
    // The last chunk is decoded only for baselines that no newer point gives.
    if (!baselines.all.every(isKnown)) updateFromChunks(baselines, chunks, tables);
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
  const isResolved = part === "all" || baselines.all.every(isFinal);
  return isResolved ? compareWithBaselines(newest, baselines) : undefined;
}

/** Creates the statement that sets the gains of stored entities by the points that are kept. */
export async function updateGainsAfterPruning(
  database: DatabaseReads,
  tables: KindTables,
  pruned: readonly ChunkPosition[],
  bounds: RetentionBounds,
): Promise<Statement[]> {
  if (tables.gains.length === 0) return [];
  const keys = new Set(pruned.map(({ key }) => key));
  const entities = Array.from(keys, (key) => [key, FIRST_INSTANT, 0] as const);
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

type Baseline = KindTables["gains"][number] & { at: number; count: number | null } & Pick<
    TimeRange,
    "from" | "to"
  >;

/** The baselines of gains, and the same by period: most points are outside of its range. */
interface Baselines {
  readonly all: readonly Baseline[];
  readonly byPeriod: readonly (readonly Baseline[])[];
}

function createBaselines({ gains }: KindTables, newestAt: number): Baselines {
  const all = gains.map((gain) => {
    const { from, to } = computeGainBaseline(newestAt, gain.days);
    return { ...gain, from, to, at: -Infinity, count: null };
  });
  return { all, byPeriod: [...Map.groupBy(all, ({ days }) => days).values()] };
}

/** Takes points, oldest first; points of a later call replace others of the same instants. */
function updateFromPoints(baselines: Baselines, points: Iterable<Point>): void {
  for (const { at, counts } of points) updateBaselines(baselines, at, counts);
}

function updateFromChunks(
  baselines: Baselines,
  chunks: readonly Chunk[],
  { pointLayout }: KindTables,
): void {
  for (const chunk of chunks) {
    forEachPoint(chunk, pointLayout, (at, counts) => updateBaselines(baselines, at, counts));
  }
}

function updateBaselines(
  { byPeriod }: Baselines,
  at: number,
  counts: readonly (number | null)[],
): void {
  for (const baselines of byPeriod) {
    const [range] = baselines;
    if (range === undefined || at < range.from || at > range.to) continue;
    for (const baseline of baselines) {
      const count = counts[baseline.countIndex] ?? null;
      if (count === null || at < baseline.at) continue;
      baseline.at = at;
      baseline.count = count;
    }
  }
}

const compareWithBaselines = (newest: Point, { all }: Baselines) =>
  all.map(({ countIndex, count }) => computeGain(newest.counts[countIndex] ?? null, count));

/** The newest stored point of an entity, and the chunks that its gains need, in order. */
type GainRow = Point & Readonly<{ key: number; chunks: readonly Chunk[] }>;

/**
 * How many entities are read at once. A libSQL server returns no value of 5 MB: with an observation
 * a minute, all chunks of one entity that can matter have 0.9 MB.
 */
const STEP_ENTITIES = { nearest: 200, all: 5 };

/** Selects the chunks at the ends of the ranges, or all from the start of the longest range on. */
function selectRowsSql(tables: KindTables, part: keyof typeof STEP_ENTITIES): string {
  const given = jsonExtractSql(1, "given.value");
  const newestAt = `iif(${jsonExtractSql(2, "given.value")}, ${given}, max(e.observed_at, ${given}))`;
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
  database: DatabaseReads,
  tables: KindTables,
  part: keyof typeof STEP_ENTITIES,
  entities: readonly (readonly [key: number, newestAt: number, isRead: 0 | 1])[],
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
