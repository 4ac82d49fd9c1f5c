/**
 * Cuts batches of observations into parts. A part is written in a bounded time on any machine and
 * disk, in any order of observations: reads are charged between two transactions.
 */
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import type { ObservationBatch } from "../../observation-batches/observation-batch.ts";

/** Writing an entity takes about as long as writing this many more observations of it. */
const ENTITY_COST = 10;

/** Bounds of the cost of a part, in observations. Below the minimum, fixed costs prevail. */
const COST_MIN = 300;
const COST_MAX = 20_000;
const FIRST_COST = 1000;

/** How much the cost changes from part to part. */
const CHANGE_MAX = 1.5;

type BatchPart = Readonly<{ batches: readonly ObservationBatch[]; cost: number }>;

/**
 * Creates a cutter: `cut()` yields parts, and `adapt()` receives how long writing a part took.
 * `getTargetMs` returns how long that should take; without it, there is only one part.
 */
export function createBatchCutter(getTargetMs?: () => number) {
  let maxCost = getTargetMs === undefined ? Number.POSITIVE_INFINITY : FIRST_COST;
  let previousMs = Number.POSITIVE_INFINITY;
  return {
    *cut(batches: readonly ObservationBatch[]): Generator<BatchPart> {
      let part: ObservationBatch[] = [];
      let cost = 0;
      for (const batch of batches) {
        for (let from = 0; from < batch.instants.length;) {
          if (cost + ENTITY_COST >= maxCost) {
            yield { batches: part, cost };
            [part, cost] = [[], 0];
          }
          const cut = cutBatch(batch, from, maxCost - cost);
          part.push(cut);
          from += cut.instants.length;
          cost += cut.instants.length + cut.entityIds.length * ENTITY_COST;
        }
      }
      if (part.length > 0) yield { batches: part, cost };
    },

    adapt({ cost }: BatchPart, writeMs: number): void {
      if (getTargetMs === undefined) return;
      // One of the last two writes may have waited for a checkpoint.
      const ratio = getTargetMs() / Math.min(writeMs, previousMs);
      previousMs = writeMs;
      // A small part says nothing about a large one.
      if (ratio > 1 && cost < maxCost / 2) return;
      const next = maxCost * Math.min(Math.max(ratio, 1 / CHANGE_MAX), CHANGE_MAX);
      maxCost = Math.round(Math.min(Math.max(next, COST_MIN), COST_MAX));
    },
  };
}

/** Cuts observations out of a batch, from an index on: as many as a cost allows, at least one. */
function cutBatch(batch: ObservationBatch, from: number, maxCost: number): ObservationBatch {
  const { ends } = batch;
  let endEntity = ends.findIndex((end) => end > from);
  let to = from;
  for (let cost = ENTITY_COST; cost < maxCost && endEntity < ends.length; endEntity++) {
    const end = Math.min(ends[endEntity] ?? to, to + maxCost - cost);
    cost += end - to + ENTITY_COST;
    to = end;
  }
  return sliceBatch(batch, from, to);
}

/** About what the line of an observation has beside its attributes. */
const LINE_BYTES = 100;

/** Cuts a batch into parts whose lines have about `maxBytes` at most, but for the last line. */
export function* cutToBytes(
  batch: ObservationBatch,
  maxBytes: number,
): Generator<ObservationBatch> {
  if (maxBytes === Number.POSITIVE_INFINITY) return yield batch;
  const { attributeIndexes, attributeSets } = batch;
  let from = 0;
  let bytes = 0;
  for (const [index, attributeIndex] of attributeIndexes.entries()) {
    bytes += LINE_BYTES;
    if (index === from || attributeIndex !== attributeIndexes[index - 1]) {
      bytes += Buffer.byteLength(JSON.stringify(attributeSets[attributeIndex]));
    }
    if (bytes < maxBytes && index < attributeIndexes.length - 1) continue;
    yield sliceBatch(batch, from, index + 1);
    [from, bytes] = [index + 1, 0];
  }
}

/** Cuts the observations from an index on, up to another one, out of a batch. */
function sliceBatch(batch: ObservationBatch, from: number, to: number): ObservationBatch {
  const { kind, entityIds, ends, attributeSets } = batch;
  const firstEntity = ends.findIndex((end) => end > from);
  const endEntity = ends.findIndex((end) => end >= to) + 1;
  const width = ENTITY_FIELDS[kind].counts.length;
  return {
    kind,
    entityIds: entityIds.slice(firstEntity, endEntity),
    ends: ends.slice(firstEntity, endEntity).map((end) => Math.min(end, to) - from),
    instants: batch.instants.subarray(from, to),
    counts: batch.counts.subarray(from * width, to * width),
    attributeIndexes: batch.attributeIndexes.subarray(from, to),
    attributeSets,
  };
}
