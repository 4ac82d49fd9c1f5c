/**
 * Computes the gains that the rows of channels and users keep.
 *
 * A gain compares the newest count with the newest known one from N to 2N days before. In an import
 * in the order of time, that is most often among the points to write or in the last chunk, which the
 * writer has read. Otherwise the chunks that hold the instants N days before are read; where they
 * don't tell, all chunks back to 2N days are.
 */
import { computeGainBaseline, computeGain, type TimeRange } from "../../../core/growth.ts";
import { applyRetentionBounds, type RetentionBounds } from "../../../core/retention.ts";
import { FIRST_INSTANT } from "../../../core/time.ts";
import type { Database, Statement } from "../database/database.ts";
import { jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";
import { decodeChunks, forEachPoint, type Chunk, type Point } from "./chunk-codec.ts";
import type { ChunkPosition } from "./chunk-sql.ts";
import { readGainRows, type GainRow } from "./gain-reads.ts";

/** An entity whose points are about to be written. */
interface GainingEntity {
  /** Its key, if it is stored. */
  readonly key: number | undefined;
  /** The newest of the points. */
  readonly newest: Point;
  /** The points to write, oldest first; they replace stored ones of the same instants. */
  readonly points: Iterable<Point>;
  /** The last stored chunk, if all of the points are newer than the stored ones. */
  readonly lastChunk: Chunk | undefined;
}

/**
 * Computes the gains of entities as they will be once their points are written.
 *
 * @returns For each entity, its gains in the order of the kind; `null` is unknown.
 */
export async function computeGainsAfterWrite(
  database: Database,
  tables: KindTables,
  entities: readonly GainingEntity[],
): Promise<(number | null)[][]> {
  if (tables.gains.length === 0) return entities.map(() => []);
  const results = entities.map((entity) => computeFromEnd(tables, entity));
  for (const part of ["nearest", "all"] as const) {
    const unresolved = entities.filter((_, index) => results[index] === undefined);
    if (unresolved.length === 0) break;
    const rows = await readGainRows(database, tables, part, unresolved);
    for (const [index, entity] of entities.entries()) {
      results[index] ??= computeFromRow(tables, entity, rows.get(entity.key), part === "all");
    }
  }
  return results.map((result) => result ?? []);
}

/**
 * Computes gains from the end of a history alone: the points to write, and the last chunk.
 *
 * @returns `undefined` if points before them can matter.
 */
function computeFromEnd(
  tables: KindTables,
  { key, newest, points, lastChunk }: GainingEntity,
): (number | null)[] | undefined {
  if (key !== undefined && lastChunk === undefined) return undefined;
  const baselines = createBaselines(tables, newest.at);
  const isMissing = (baseline: Baseline) =>
    baseline.count === null && newest.counts[baseline.countIndex] !== null;
  updateBaselines(baselines, points);
  if (lastChunk === undefined) return compareWithBaselines(newest, baselines);
  const missing = baselines.filter(isMissing);
  if (missing.length > 0) {
    updateFromChunks(missing, [lastChunk], tables);
    if (missing.some((baseline) => isMissing(baseline) && baseline.from < lastChunk.start)) {
      return undefined;
    }
  }
  return compareWithBaselines(newest, baselines);
}

/**
 * Computes gains from stored chunks and the points to write.
 *
 * @param isComplete Whether the chunks are all that can matter.
 * @returns `undefined` if other chunks can matter.
 */
function computeFromRow(
  tables: KindTables,
  entity: GainingEntity,
  row: GainRow | undefined,
  isComplete: boolean,
): (number | null)[] | undefined {
  const newest =
    row !== undefined && row.observedAt > entity.newest.at
      ? { at: row.observedAt, counts: row.counts }
      : entity.newest;
  const chunks = row?.chunks ?? [];
  const baselines = createBaselines(tables, newest.at);
  updateFromChunks(baselines, chunks, tables);
  updateBaselines(baselines, entity.points);
  const isResolved = isComplete || baselines.every((baseline) => isFinal(baseline, newest, chunks));
  return isResolved ? compareWithBaselines(newest, baselines) : undefined;
}

/** Creates the statement that sets the gains of stored entities to those of the kept points. */
export async function updateGainsAfterPruning(
  database: Database,
  tables: KindTables,
  pruned: readonly ChunkPosition[],
  bounds: RetentionBounds,
): Promise<Statement[]> {
  if (tables.gains.length === 0) return [];
  const entities = Array.from(new Set(pruned.map(({ key }) => key)), (key) => ({
    key,
    newest: { at: FIRST_INSTANT },
  }));
  const rows = await readGainRows(database, tables, "all", entities);
  const updates = Array.from(rows.values(), ({ key, observedAt, counts, chunks }) => {
    const baselines = createBaselines(tables, observedAt);
    const points = decodeChunks(chunks, tables.pointLayout);
    updateBaselines(baselines, applyRetentionBounds(points, bounds));
    return [key, ...compareWithBaselines({ at: observedAt, counts }, baselines)];
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

/** The newest known count of the range of a gain. */
type Baseline = KindTables["gains"][number] & TimeRange & { at: number; count: number | null };

function createBaselines({ gains }: KindTables, newestAt: number): Baseline[] {
  return gains.map((gain) => {
    const { from, to } = computeGainBaseline(newestAt, gain.days);
    return { ...gain, from, to, at: -Infinity, count: null };
  });
}

/** Takes points, oldest first; a later call replaces points of the same instants. */
function updateBaselines(baselines: readonly Baseline[], points: Iterable<Point>): void {
  for (const { at, counts } of points) updateWithPoint(baselines, at, counts);
}

function updateFromChunks(
  baselines: readonly Baseline[],
  chunks: readonly Chunk[],
  { pointLayout }: KindTables,
): void {
  for (const chunk of chunks) {
    forEachPoint(chunk, pointLayout, (at, counts) => updateWithPoint(baselines, at, counts));
  }
}

function updateWithPoint(
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

/**
 * Whether no other chunk can change a gain.
 *
 * @param chunks In order, among them the one that holds the end of the range.
 */
function isFinal(baseline: Baseline, newest: Point, chunks: readonly Chunk[]): boolean {
  const { countIndex, count, at, from, to } = baseline;
  if (newest.counts[countIndex] === null) return true;
  const nearest = chunks.findLast(({ start }) => start <= to);
  if (nearest === undefined || nearest.start <= from) return true;
  // A count from before that chunk can be older than one of a chunk that was not read.
  return count !== null && at >= nearest.start;
}

function compareWithBaselines(newest: Point, baselines: readonly Baseline[]): (number | null)[] {
  return baselines.map(({ countIndex, count }) =>
    computeGain(newest.counts[countIndex] ?? null, count),
  );
}
