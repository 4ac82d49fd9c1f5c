/**
 * Cuts batches into parts that are written in a bounded time each, whatever the machine, the disk and
 * the order of the observations: reads are charged between two transactions.
 */
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import type { ObservationBatch } from "./observation-batch.ts";

/** To write an entity takes about as long as to write so many more observations of it. */
const ENTITY_COST = 10;

/** Bounds of the cost of a part, in observations. Below, its fixed costs prevail. */
const COST_MIN = 300;
const COST_MAX = 20_000;
const FIRST_COST = 1000;

/** How much the cost changes from part to part. */
const CHANGE_MAX = 1.5;

interface BatchPart {
  readonly batches: readonly ObservationBatch[];
  /** The observations, and more for each entity. */
  readonly cost: number;
}

/**
 * Creates a cutter: `cut()` yields the parts, and `adapt()` receives how long each was written.
 *
 * @param getTargetMs Returns the aim for the transaction of a part. By default, all is one part.
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

/** Cuts observations out of a batch: from an index on, as many as a cost allows, and at least one. */
function cutBatch(batch: ObservationBatch, from: number, maxCost: number): ObservationBatch {
  const { kind, entityIds, ends, attributeSets } = batch;
  const firstEntity = ends.findIndex((end) => end > from);
  let endEntity = firstEntity;
  let to = from;
  for (let cost = ENTITY_COST; cost < maxCost && endEntity < ends.length; endEntity++) {
    const end = Math.min(ends[endEntity] ?? to, to + maxCost - cost);
    cost += end - to + ENTITY_COST;
    to = end;
  }
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
