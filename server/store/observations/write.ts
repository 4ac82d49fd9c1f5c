/**
 * Writes observations: in any order, any number of times.
 *
 * JavaScript merges the counts, because they are packed into chunks. SQL merges the attributes,
 * so those of an entity that is merely seen again are not read.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { OutcomeCounts } from "../../../core/entities.ts";
import type { Observation } from "../../../core/observations.ts";
import type { Database, Statement } from "../database/database.ts";
import { createBatchCutter, type BatchPart } from "./batch-parts.ts";
import { createBatchBuilder, type ObservationBatch } from "./observation-batch.ts";
import { recordEntityWrites, type ChangedEntity } from "../history/change-log.ts";
import {
  encodeChunks,
  encodeChunksEvenly,
  type Chunk,
  type Point,
} from "../history/chunk-codec.ts";
import {
  deleteChunks,
  upsertChunks,
  type ChunkPosition,
  type ChunkWrite,
} from "../history/chunk-sql.ts";
import { computeGainsAfterWrite } from "../history/gains.ts";
import { writeOptimistically, type WritePlan } from "../history/optimistic-write.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { mergeStored } from "./stored-entities.ts";
import { createPendingEntities, type PendingEntity } from "./merge.ts";
import { upsertEntities } from "./upsert-sql.ts";

/**
 * Writes observations as one transaction.
 *
 * @returns How many were new (an instant never observed before), changed (more about a known one)
 * or unchanged. Their sum is the number of observations.
 */
export function writeObservations(
  database: Database,
  observations: readonly Observation[],
): Promise<OutcomeCounts> {
  const builder = createBatchBuilder();
  for (const observation of observations) builder.add(observation);
  return writeBatches(database, builder.build());
}

/**
 * Writes batches of observations, in transactions between which other writes are done.
 *
 * @param getTargetMs Returns about how long a transaction takes at most; by default there is only one.
 */
export async function writeBatches(
  database: Database,
  batches: readonly ObservationBatch[],
  getTargetMs?: () => number,
): Promise<OutcomeCounts> {
  const totals = { new: 0, changed: 0, unchanged: 0 };
  const cutter = createBatchCutter(getTargetMs);
  for (const part of cutter.cut(batches)) {
    const { outcomeCounts, writeMs } = await writePart(database, part);
    for (const name of OUTCOMES) totals[name] += outcomeCounts[name];
    cutter.adapt(part, writeMs);
    await yieldToEventLoop();
  }
  await database.sync();
  return totals;
}

const OUTCOMES = ["new", "changed", "unchanged"] as const;

async function writePart(
  database: Database,
  { batches }: BatchPart,
): Promise<{ readonly outcomeCounts: OutcomeCounts; readonly writeMs: number }> {
  let plannedAt = 0;
  const createPlan = async () => {
    const plan = await planWrite(database, batches);
    plannedAt = performance.now();
    return plan;
  };
  const { plan } = await writeOptimistically(database, createPlan, { durability: "process" });
  return { outcomeCounts: plan.outcomeCounts, writeMs: performance.now() - plannedAt };
}

/** Merges batches with the stored observations. Requests are served between its steps. */
async function planWrite(
  database: Database,
  batches: readonly ObservationBatch[],
): Promise<WritePlan & { readonly outcomeCounts: OutcomeCounts }> {
  const outcomeCounts = { new: 0, changed: 0, unchanged: 0 };
  const statements: Statement[] = [];
  const changed: ChangedEntity[] = [];
  for (const batch of batches) {
    const tables = KIND_TABLES[batch.kind];
    const pending = createPendingEntities(batch);
    await yieldToEventLoop();
    await mergeStored(database, tables, pending);
    await yieldToEventLoop();
    const changedEntities: PendingEntity[] = [];
    for (const entity of pending.values()) {
      const { outcomeCounts: outcomes, attributes } = entity.merged;
      outcomeCounts.new += outcomes.new;
      outcomeCounts.changed += outcomes.changed;
      outcomeCounts.unchanged += outcomes.unchanged;
      if (outcomes.new + outcomes.changed === 0) continue;
      changedEntities.push(entity);
      changed.push({ kind: batch.kind, id: entity.id, attributes });
    }
    if (changedEntities.length > 0) {
      await setGains(database, tables, changedEntities);
      await yieldToEventLoop();
      statements.push(...upsertEntities(tables, changedEntities));
      await yieldToEventLoop();
      statements.push(...writeHistories(tables, changedEntities));
      await yieldToEventLoop();
    }
  }
  return { recordChange: recordEntityWrites(changed), statements, outcomeCounts };
}

async function setGains(
  database: Database,
  tables: KindTables,
  changed: readonly PendingEntity[],
): Promise<void> {
  const entities = changed.map(({ merged, stored }) => {
    const lastChunk = stored?.isAppend === true ? stored.chunks.at(-1) : undefined;
    return { key: stored?.key, newest: merged.newest, points: merged.points, lastChunk };
  });
  const gains = await computeGainsAfterWrite(database, tables, entities);
  for (const [index, entity] of changed.entries()) entity.gains = gains[index] ?? [];
}

/** Creates the statements that write merged points. Stored chunks that stay the same are left out. */
function writeHistories(tables: KindTables, changed: readonly PendingEntity[]): Statement[] {
  const { pointLayout } = tables;
  const written: ChunkWrite[] = [];
  const deleted: ChunkPosition[] = [];
  for (const { id, merged, stored } of changed) {
    if (stored === undefined || stored.isAppend) {
      const chunks = encodeChunks(merged.points, pointLayout, stored?.chunks.at(-1));
      for (const chunk of chunks) written.push({ id, ...chunk });
      continue;
    }
    for (const { replaced, points } of assignToChunks(merged.points, stored.chunks)) {
      const chunks = encodeChunksEvenly(points, pointLayout);
      const [first] = chunks;
      const isSame =
        chunks.length === 1 && first?.start === replaced.start && first.points === replaced.points;
      if (isSame) continue;
      deleted.push({ key: stored.key, start: replaced.start });
      for (const chunk of chunks) written.push({ id, ...chunk });
    }
  }
  return [
    ...(deleted.length === 0 ? [] : [deleteChunks(tables, deleted)]),
    upsertChunks(tables, written),
  ];
}

/** Assigns points, oldest first, to the chunks that they replace. */
function assignToChunks(points: Iterable<Point>, chunks: readonly Chunk[]) {
  const parts = chunks.map((replaced) => ({ replaced, points: [] as Point[] }));
  let part = 0;
  for (const { at, counts } of points) {
    while (at >= (chunks[part + 1]?.start ?? Infinity)) part++;
    // Copied, because the iterable may reuse one array.
    parts[part]?.points.push({ at, counts: [...counts] });
  }
  return parts;
}
