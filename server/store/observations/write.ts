/**
 * Observations into the database: as one transaction, in any order, any number of times.
 *
 * The join of the domain decides what is new, and packs it into the histories. What describes an
 * entity is joined in SQL: so nothing of it need be read of an entity that is merely seen again.
 */
import type { EntityKind } from "../../../core/entity-kinds.ts";
import type { Observation } from "../../../core/observations.ts";
import { foldCase } from "../../../core/text.ts";
import type { Database, Statement } from "../database/database.ts";
import { createBatchBuilder, type ObservationBatch } from "./observation-batch.ts";
import { recordEntityWrites, type ChangedEntity } from "../history/change-log.ts";
import {
  encodeChunks,
  encodeChunksEvenly,
  type Chunk,
  type Point,
} from "../history/chunk-codec.ts";
import { writeOptimistically } from "../history/optimistic-write.ts";
import {
  RESTORE_SPELLINGS,
  CLEAR_SPELLINGS,
  KIND_TABLES,
  reserveKeysSql,
  deleteChunksSql,
  upsertChunksSql,
  upsertEntitiesSql,
  type KindTables,
} from "../tables/entity-sql.ts";
import { mergeExisting, type ExistingEntity } from "./existing-entities.ts";
import type { OutcomeCounts } from "../../ports/reads.ts";
import { createPendingEntities, type PendingEntity } from "./merge.ts";

/**
 * Stores observations.
 *
 * @returns How many were new (an instant never observed before), changed (more about a known one)
 * or unchanged. Their sum is the number of observations.
 */
export function writeObservations(
  database: Database,
  observations: readonly Observation[],
): Promise<OutcomeCounts> {
  const gatherer = createBatchBuilder();
  for (const observation of observations) gatherer.add(observation);
  return writeBatches(database, gatherer.build());
}

/** Stores gathered observations, as {@link writeObservations} does. */
export async function writeBatches(
  database: Database,
  batches: readonly ObservationBatch[],
): Promise<OutcomeCounts> {
  const { plan: decision } = await writeOptimistically(database, async () => {
    const totals = { new: 0, changed: 0, unchanged: 0 };
    const statements: Statement[] = [];
    const changed: ChangedEntity[] = [];
    for (const batch of batches) {
      const { kind } = batch;
      const layout = KIND_TABLES[kind];
      const pending = createPendingEntities(batch);
      const existing = await mergeExisting(database, layout, pending);
      const changedEntities: PendingEntity[] = [];
      for (const fold of pending.values()) {
        const { outcomeCounts: outcomes } = fold.merged;
        totals.new += outcomes.new;
        totals.changed += outcomes.changed;
        totals.unchanged += outcomes.unchanged;
        if (outcomes.new + outcomes.changed > 0) changedEntities.push(fold);
      }
      if (changedEntities.length === 0) continue;
      for (const { id, merged: joined } of changedEntities) {
        changed.push({ kind, id, attributes: joined.attributes });
      }
      statements.push(...createWriteStatements(layout, changedEntities, existing));
    }
    return { recordChange: recordEntityWrites(changed), statements, counted: totals };
  });
  return decision.counted;
}

function createWriteStatements(
  layout: KindTables,
  changed: readonly PendingEntity[],
  existing: ReadonlyMap<string, ExistingEntity>,
): Statement[] {
  const givenFields = new Set<string>();
  for (const { merged: joined } of changed)
    for (const name in joined.attributes) givenFields.add(name);
  const fields = Array.from(layout.attributeColumns.keys()).filter((name) => givenFields.has(name));
  const entities = changed.map((fold) => createEntityRow(fields, fold));
  const writtenChunks: unknown[] = [];
  const deletedChunks: unknown[] = [];
  for (const fold of changed) {
    const existingEntity = existing.get(fold.id);
    for (const { from, to } of replaceChunks(
      fold.merged.points,
      layout.countColumns.size,
      existingEntity,
    )) {
      if (existingEntity !== undefined && from !== undefined)
        deletedChunks.push([existingEntity.key, from[0]]);
      for (const chunk of to) writtenChunks.push([fold.id, ...chunk]);
    }
  }
  return [
    ...createReferenceStatements(layout.kind, changed),
    createStatement(upsertEntitiesSql(layout, fields), entities),
    ...(deletedChunks.length === 0
      ? []
      : [createStatement(deleteChunksSql(layout), deletedChunks)]),
    createStatement(upsertChunksSql(layout), writtenChunks),
    ...(layout.kind === "tweet" ? [{ sql: RESTORE_SPELLINGS, args: [] }] : []),
  ];
}

/** An entity as `upsertEntitiesSql()` takes it. */
function createEntityRow(
  fields: readonly string[],
  { id, merged: { attributes: description, newest } }: PendingEntity,
): unknown[] {
  const username = description["username"]?.value;
  const row: unknown[] = [
    id,
    username === undefined ? null : foldCase(String(username)),
    newest.at,
    ...newest.counts,
  ];
  for (const name of fields) {
    const field = description[name];
    row.push(field?.value ?? null, field?.at ?? null);
  }
  return row;
}

/** Chunks, and the one in whose place they come if it has to go. */
interface ChunkReplacement {
  readonly from?: Chunk;
  readonly to: readonly Chunk[];
}

/** The chunks that hold what came in, those among them that it changed. */
function replaceChunks(
  points: Iterable<Point>,
  width: number,
  existing: ExistingEntity | undefined,
): ChunkReplacement[] {
  if (existing === undefined) return [{ to: encodeChunks(points, width) }];
  if (existing.isAppend) return [{ to: encodeChunks(points, width, existing.chunks.at(-1)) }];
  const parts = existing.chunks.map((from) => ({ from, points: [] as Point[] }));
  let part = 0;
  for (const point of points) {
    while (point.at >= (existing.chunks[part + 1]?.[0] ?? Infinity)) part++;
    // The point is lent.
    parts[part]?.points.push({ at: point.at, counts: [...point.counts] });
  }
  return parts.flatMap(({ from, points: partPoints }) => {
    const to = encodeChunksEvenly(partPoints, width);
    const isSame = to.length === 1 && to[0]?.[0] === from[0] && to[0][2] === from[2];
    return isSame ? [] : [{ from, to }];
  });
}

/** What must be there before the entities of a batch: the channels and users that they name. */
function createReferenceStatements(
  kind: EntityKind,
  pending: readonly PendingEntity[],
): Statement[] {
  if (kind === "short") {
    const ids = pending.map(({ merged: joined }) => joined.attributes["channel"]?.value ?? null);
    return [createStatement(reserveKeysSql(KIND_TABLES.channel), ids)];
  }
  if (kind === "tweet") {
    const names = pending.map(({ merged: joined }) =>
      foldCase(String(joined.attributes["username"]?.value)),
    );
    return [
      createStatement(reserveKeysSql(KIND_TABLES.user), names),
      createStatement(
        CLEAR_SPELLINGS,
        pending.map(({ id }) => id),
        names,
      ),
    ];
  }
  return [];
}

function createStatement(sql: string, ...rows: readonly (readonly unknown[])[]): Statement {
  return { sql, args: rows.map((row) => JSON.stringify(row)) };
}
