/**
 * Writes batches of observations in transactions, whose size adapts to a target time. Observations
 * may come in any order, any number of times. JavaScript merges counts, because they are packed
 * into chunks; SQL merges attributes, so they are not read for an entity that is merely seen again.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { OutcomeCounts } from "../../../core/entities.ts";
import type { Database, Statement } from "../database/database.ts";
import type { ObservationBatch } from "../../observation-batches/observation-batch.ts";
import { encodeChunks, encodeChunksEvenly, type Chunk } from "../history/chunk-codec.ts";
import { deleteChunks, upsertChunks, type ChunkPosition } from "../history/chunk-sql.ts";
import { computeGainsAfterWrite } from "../history/gains.ts";
import { markStale } from "../history/stale-marks.ts";
import { recordEntityWrites } from "../history/change-log.ts";
import { writeOptimistically } from "../history/optimistic-writes.ts";
import { createBatchCutter } from "./batch-parts.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { mergeBatch, type MergedEntity } from "./merge.ts";
import { forEachInSlices } from "../history/time-slices.ts";
import { upsertEntities } from "./upsert-sql.ts";

/** Writes batches in transactions as a cutter cuts them, or in one. Others can write between. */
export async function writeBatches(
  database: Database,
  batches: readonly ObservationBatch[],
  cutter = createBatchCutter(),
): Promise<OutcomeCounts> {
  const totals = { new: 0, changed: 0, unchanged: 0 };
  for (const part of cutter.cut(batches)) {
    const createPlan = () => planWrite(database, part.batches);
    const { plan } = await writeOptimistically(database, createPlan, { durability: "process" });
    addCounts(totals, plan.outcomeCounts);
    cutter.adapt(part, performance.now() - plan.plannedAt);
    await yieldToEventLoop();
  }
  await database.sync();
  return totals;
}

export function addCounts(
  totals: Record<keyof OutcomeCounts, number>,
  counts: OutcomeCounts,
): void {
  totals.new += counts.new;
  totals.changed += counts.changed;
  totals.unchanged += counts.unchanged;
}

/** Merges batches with the stored observations. Requests are served between its steps. */
async function planWrite(database: Database, batches: readonly ObservationBatch[]) {
  const outcomeCounts = { new: 0, changed: 0, unchanged: 0 };
  const statements: Statement[] = [];
  const written: Parameters<typeof recordEntityWrites>[0][number][] = [];
  for (const batch of batches) {
    const { kind } = batch;
    const tables = KIND_TABLES[kind];
    const entities = await mergeBatch(database, tables, batch);
    await yieldToEventLoop();
    for (const entity of entities) addCounts(outcomeCounts, entity.outcomeCounts);
    const changed = entities.filter(
      ({ outcomeCounts: outcomes }) => outcomes.new + outcomes.changed > 0,
    );
    if (changed.length === 0) continue;
    for (const { id, attributes } of changed) written.push({ kind, id, attributes });
    const gains = await computeGainsAfterWrite(database, tables, changed);
    await yieldToEventLoop();
    statements.push(...upsertEntities(tables, changed, gains));
    await yieldToEventLoop();
    statements.push(...(await writeHistories(tables, changed)));
    const keys = changed.flatMap(({ stored }) => stored?.key ?? []);
    const ids = changed.flatMap(({ id, stored }) => (stored === undefined ? [id] : []));
    statements.push(markStale(tables, { keys, ids }));
    await yieldToEventLoop();
  }
  const recordChange = recordEntityWrites(written);
  return { recordChange, statements, outcomeCounts, plannedAt: performance.now() };
}

/** Creates the statements that write merged points. Stored chunks that stay equal are left out. */
async function writeHistories(
  tables: KindTables,
  changed: readonly MergedEntity[],
): Promise<Statement[]> {
  const { pointLayout } = tables;
  const written: (Chunk & { readonly id: string })[] = [];
  const deleted: ChunkPosition[] = [];
  await forEachInSlices(changed, ({ id, points, stored }) => {
    if (stored?.late === undefined) {
      const chunks = encodeChunks(points, pointLayout, stored?.lastChunk);
      for (const chunk of chunks) written.push({ id, ...chunk });
      return;
    }
    for (const part of assignToChunks(points, stored.late.chunks)) {
      const chunks = encodeChunksEvenly(part.points, pointLayout);
      const [first] = chunks;
      const { start } = part.replaced;
      const isSame = first?.start === start && first.points === part.replaced.points;
      if (isSame && chunks.length === 1) continue;
      deleted.push({ key: stored.key, start });
      for (const chunk of chunks) written.push({ id, ...chunk });
    }
  });
  return [
    ...(deleted.length === 0 ? [] : [deleteChunks(tables, deleted)]),
    upsertChunks(tables, written),
  ];
}

function assignToChunks(points: MergedEntity["points"], chunks: readonly Chunk[]) {
  // The iterable may reuse one array.
  const copies = Array.from(points, ({ at, counts }) => ({ at, counts: [...counts] }));
  let last = 0;
  const pointsByChunk = Map.groupBy(copies, ({ at }) => {
    while (at >= (chunks[last + 1]?.start ?? Infinity)) last++;
    return last;
  });
  return chunks.map((replaced, index) => ({ replaced, points: pointsByChunk.get(index) ?? [] }));
}
