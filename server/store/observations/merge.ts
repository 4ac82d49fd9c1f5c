/** Merges a batch of observations with the stored ones, and reads only the chunks it needs. */
import {
  applyObservations,
  EMPTY_ENTITY,
  type Attribute,
  type Attributes,
  type Entity,
  type OutcomeCounts,
} from "../../../core/entities.ts";
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import type { Observation } from "../../../core/observations.ts";
import { listHistoryPoints, nameCounts } from "../../../core/responses/entity-fields.ts";
import type { Database } from "../database/database.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
import { CHUNK_JSON, selectChunksSql, selectChunkStartSql } from "../history/chunk-sql.ts";
import { attributesJsonSql, jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import type { ObservationBatch } from "../../observation-batches/observation-batch.ts";
import { forEachInSlices } from "../history/time-slices.ts";

/** An entity of a batch after the merge. */
export interface MergedEntity {
  readonly id: string;
  readonly attributes: Attributes;
  /** Oldest first. The iterable may reuse one array of counts: copy it to keep it. */
  readonly points: Iterable<Point>;
  readonly newest: Point;
  readonly outcomeCounts: OutcomeCounts;
  readonly stored: StoredEntity | undefined;
}

interface StoredEntity {
  readonly id: string;
  readonly key: number;
  /** `null` if the entity has an observation that is not older than the first incoming one. */
  readonly lastChunk: Chunk | null;
  /** Present if `lastChunk` is `null`: with the chunks that incoming observations fall into. */
  readonly late?: { readonly attributes: Attributes; readonly chunks: readonly Chunk[] };
}

/** The observations of one entity in a batch: `from` is included, `to` is not. */
type BatchSlice = Readonly<{ id: string; batch: ObservationBatch; from: number; to: number }>;

/**
 * Merges the entities of a batch with their stored attributes and points. If all incoming
 * observations of an entity are newer than the stored ones, they are new whatever is stored, so
 * only the last chunk is read.
 */
export async function mergeBatch(
  database: Database,
  tables: KindTables,
  batch: ObservationBatch,
): Promise<MergedEntity[]> {
  const { ends } = batch;
  const slices = batch.entityIds.map((id, index) => {
    return { id, batch, from: ends[index - 1] ?? 0, to: ends[index] ?? 0 };
  });
  const stored = await readStored(database, tables, slices);
  await yieldToEventLoop();
  const merged: MergedEntity[] = [];
  await forEachInSlices(slices, (slice) => {
    merged.push(mergeSlice(tables, slice, stored.get(slice.id)));
  });
  return merged;
}

function mergeSlice(
  tables: KindTables,
  slice: BatchSlice,
  stored: StoredEntity | undefined,
): MergedEntity {
  const late = stored?.late;
  const ascending = late === undefined ? sortByInstant(slice) : undefined;
  if (ascending !== undefined) return mergeAscending(ascending, stored);
  const existing = late === undefined ? EMPTY_ENTITY : decodeEntity(tables, late);
  const { entity, outcomes } = applyObservations(existing, iterateObservations(slice));
  const { attributes } = entity;
  const points = packPoints(slice, listHistoryPoints(tables.kind, entity));
  return { id: slice.id, attributes, ...points, outcomeCounts: outcomes, stored };
}

/** Packs the points of an entity: as objects, they would take several times the memory. */
function packPoints({ id, batch }: BatchSlice, points: readonly Point[]) {
  const instants = Float64Array.from(points, ({ at }) => at);
  const counts = Float64Array.from(
    points.flatMap((point) => point.counts),
    (count) => count ?? Number.NaN,
  );
  return listPoints({ id, batch: { ...batch, instants, counts }, from: 0, to: instants.length });
}

const listPoints = (slice: BatchSlice) => ({
  points: { [Symbol.iterator]: () => iteratePoints(slice) },
  newest: getPoint(slice.batch, slice.to - 1),
});

const isAscending = (instants: Float64Array) =>
  instants.every((instant, index) => index === 0 || instant > (instants[index - 1] ?? 0));

/**
 * Sorts observations by their instants; `undefined` if two have the same. Then their order is
 * kept, because it decides which of them changed something.
 */
function sortByInstant(slice: BatchSlice): BatchSlice | undefined {
  const instants = sliceInstants(slice);
  if (isAscending(instants)) return slice;
  const { id, batch, from } = slice;
  const order = Uint32Array.from(instants, (_, index) => index);
  order.sort((a, b) => (instants[a] ?? 0) - (instants[b] ?? 0));
  const sorted = instants.map((_, index) => instants[order[index] ?? 0] ?? 0);
  if (!isAscending(sorted)) return undefined;
  const { length } = ENTITY_FIELDS[batch.kind].counts;
  const counts = new Float64Array(order.length * length);
  const attributeIndexes = order.map((index) => batch.attributeIndexes[from + index] ?? 0);
  order.forEach((index, to) => {
    const start = (from + index) * length;
    counts.set(batch.counts.subarray(start, start + length), to * length);
  });
  const sortedBatch = { ...batch, instants: sorted, counts, attributeIndexes };
  return { id, batch: sortedBatch, from: 0, to: order.length };
}

/**
 * Merges observations in the order of time without a map of points, as most imports come: each is
 * new, and the last value of a field wins. `tests/store/observations/write.test.ts` compares the
 * result with core's.
 */
function mergeAscending(slice: BatchSlice, stored: StoredEntity | undefined): MergedEntity {
  const { id, batch, from, to } = slice;
  const attributes: Record<string, Attribute> = {};
  let lastAttributeIndex: number | undefined;
  for (let index = to - 1; index >= from; index--) {
    // Skips attributes that are the same as those of the observation after it.
    if (batch.attributeIndexes[index] === lastAttributeIndex) continue;
    lastAttributeIndex = batch.attributeIndexes[index];
    const values = getAttributes(batch, index);
    for (const name in values) {
      const value = values[name];
      if (value !== undefined) attributes[name] ??= { value, at: batch.instants[index] ?? 0 };
    }
  }
  const outcomeCounts = { new: to - from, changed: 0, unchanged: 0 };
  return { id, attributes, ...listPoints(slice), outcomeCounts, stored };
}

function decodeEntity(
  { kind, pointLayout }: KindTables,
  { attributes, chunks }: NonNullable<StoredEntity["late"]>,
): Entity {
  const points = decodeChunks(chunks, pointLayout);
  return {
    attributes,
    points: new Map(points.map(({ at, counts }) => [at, nameCounts(kind, counts)])),
  };
}

const sliceInstants = ({ batch, from, to }: BatchSlice) => batch.instants.subarray(from, to);

function* iterateObservations({ batch, from, to }: BatchSlice) {
  for (let index = from; index < to; index++) {
    const { at, counts } = getPoint(batch, index);
    const attributes = getAttributes(batch, index);
    yield { observedAt: at, attributes, counts: nameCounts(batch.kind, counts) };
  }
}

/** The points share one array of counts, to save memory. */
function* iteratePoints({ batch, from, to }: BatchSlice): Generator<Point> {
  const sharedCounts: (number | null)[] = [];
  for (let index = from; index < to; index++) yield getPoint(batch, index, sharedCounts);
}

const getAttributes = (
  { attributeSets, attributeIndexes }: ObservationBatch,
  index: number,
): Observation["attributes"] => attributeSets[attributeIndexes[index] ?? 0] ?? {};

function getPoint(batch: ObservationBatch, index: number, counts: (number | null)[] = []): Point {
  const { length } = ENTITY_FIELDS[batch.kind].counts;
  for (let nth = 0; nth < length; nth++) {
    const count = batch.counts[index * length + nth] ?? Number.NaN;
    counts[nth] = Number.isNaN(count) ? null : count;
  }
  return { at: batch.instants[index] ?? 0, counts };
}

async function readStored(
  database: Database,
  tables: KindTables,
  slices: readonly BatchSlice[],
): Promise<ReadonlyMap<string, StoredEntity>> {
  async function readEntities(sql: string, given: readonly (readonly [string, unknown])[]) {
    return (await database.queryJson<StoredEntity[]>(sql, [JSON.stringify(given)])) ?? [];
  }
  const firstInstants = slices.map((slice) => {
    const first = sliceInstants(slice).reduce((least, instant) => Math.min(least, instant));
    return [slice.id, first] as const;
  });
  const entities = await readEntities(selectLastChunksSql(tables), firstInstants);
  const stored = new Map(entities.map((entity) => [entity.id, entity]));
  const late = slices.filter(({ id }) => stored.get(id)?.lastChunk === null);
  if (late.length === 0) return stored;
  await yieldToEventLoop();
  const instants = late.map((slice) => [slice.id, [...new Set(sliceInstants(slice))]] as const);
  await forEachInSlices(groupLate(instants), async (group) => {
    const found = await readEntities(selectLateSql(tables), group);
    for (const entity of found) stored.set(entity.id, entity);
  });
  return stored;
}

/** Reading the chunks of so many instants takes about 2 ms. */
const LATE_GROUP_INSTANTS = 2000;

/** Groups entities with their instants: a query of all would hold up requests. */
function* groupLate<Late extends readonly [string, readonly number[]]>(
  all: readonly Late[],
): Generator<Late[]> {
  let group: Late[] = [];
  let size = 0;
  for (const late of all) {
    group.push(late);
    size += late[1].length;
    if (size < LATE_GROUP_INSTANTS) continue;
    yield group;
    [group, size] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/** Selects entities by a JSON array of their identifiers and first incoming instants. */
const selectLastChunksSql = ({ entityTable, historyTable, entityColumn }: KindTables) => `
  SELECT json_group_array(json_object(
    'id', e.id,
    'key', e.key,
    'lastChunk', CASE WHEN e.observed_at < ${jsonExtractSql(1, "given.value")} THEN (
      SELECT ${CHUNK_JSON}
      FROM ${historyTable}
      WHERE ${entityColumn} = e.key
      ORDER BY start DESC
      LIMIT 1
    ) END
  ))
  FROM json_each(?) AS given
  CROSS JOIN ${entityTable} AS e ON e.id = ${jsonExtractSql(0, "given.value")}
  WHERE e.observed_at IS NOT NULL`;

/** Selects entities by a JSON array of their identifiers and all incoming instants. */
function selectLateSql(tables: KindTables): string {
  const isTouched = `start IN (
    SELECT ${selectChunkStartSql(tables, "e.key", "instant.value")}
    FROM json_each(given.value, '$[1]') AS instant
  )`;
  return `
    SELECT json_group_array(json_object(
      'id', e.id,
      'key', e.key,
      'lastChunk', NULL,
      'late', json_object(
        'attributes', ${attributesJsonSql(tables)},
        'chunks', ${selectChunksSql(tables, "e.key", isTouched)}
      )
    ))
    FROM json_each(?) AS given
    CROSS JOIN ${tables.entityTable} AS e ON e.id = ${jsonExtractSql(0, "given.value")}`;
}
