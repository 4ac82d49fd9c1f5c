/**
 * Builds batches of observations, and cuts them into parts. A batch has the observations of one
 * kind, by entity, as columns: typed arrays move between threads without a copy, and no number (a
 * block of lines holds a hundred thousand) needs an object. A part is written in a bounded time on
 * any machine and disk, in any order of observations: reads are charged between two transactions.
 */
import { ENTITY_FIELDS, mapKinds, type EntityKind } from "../../../core/kinds.ts";
import type { Observation } from "../../../core/observations.ts";

type AttributeValues = Observation["attributes"];

/** Observations of a kind: those of one entity follow one another, in the order they came in. */
export interface ObservationBatch {
  readonly kind: EntityKind;
  readonly entityIds: readonly string[];
  readonly attributeSets: readonly AttributeValues[];
  /** By entity: the index after its last observation. */
  readonly ends: Uint32Array;
  /** By observation: milliseconds since 1970 UTC. */
  readonly instants: Float64Array;
  /** By observation: its counts in the order of the kind; NaN is unknown. */
  readonly counts: Float64Array;
  /** By observation: the index of its attributes in `attributeSets`. */
  readonly attributeIndexes: Uint32Array;
}

export function createBatchBuilder() {
  const builders = mapKinds(createKindBatchBuilder);
  return {
    add: (observation: Observation) => builders[observation.kind].add(observation),
    build(): ObservationBatch[] {
      const batches = Object.values(builders).map((builder) => builder.build());
      return batches.filter(({ entityIds }) => entityIds.length > 0);
    },
  };
}

/** Keeps attributes once if consecutive observations of an entity give the same. */
function createKindBatchBuilder(kind: EntityKind) {
  const countNames = ENTITY_FIELDS[kind].counts;
  const indexById = new Map<string, number>();
  // By entity.
  const sizes: number[] = [];
  const lastAttributeIndexes: number[] = [];
  // By observation, in the order they came in.
  const entityIndexes: number[] = [];
  const instants: number[] = [];
  const counts: number[] = [];
  const attributeIndexes: number[] = [];
  const attributeSets: AttributeValues[] = [];

  return {
    add(observation: Observation) {
      const { entityId, attributes } = observation;
      const entity = indexById.get(entityId) ?? indexById.size;
      if (entity === indexById.size) indexById.set(entityId, entity);
      const lastIndex = lastAttributeIndexes[entity];
      const last = lastIndex === undefined ? undefined : attributeSets[lastIndex];
      if (last === undefined || !hasSameAttributes(last, attributes)) {
        lastAttributeIndexes[entity] = attributeSets.length;
        attributeSets.push(attributes);
      }
      attributeIndexes.push(lastAttributeIndexes[entity] ?? 0);
      sizes[entity] = (sizes[entity] ?? 0) + 1;
      entityIndexes.push(entity);
      instants.push(observation.observedAt);
      for (const name of countNames) counts.push(observation.counts[name] ?? Number.NaN);
    },
    build(): ObservationBatch {
      const ends = Uint32Array.from(sizes);
      for (let entity = 1; entity < ends.length; entity++) {
        ends[entity] = (ends[entity] ?? 0) + (ends[entity - 1] ?? 0);
      }
      const nextIndexes = ends.map((end, entity) => end - (sizes[entity] ?? 0));
      const batch = {
        kind,
        entityIds: [...indexById.keys()],
        attributeSets,
        ends,
        instants: new Float64Array(instants.length),
        counts: new Float64Array(counts.length),
        attributeIndexes: new Uint32Array(attributeIndexes.length),
      };
      const width = countNames.length;
      entityIndexes.forEach((entity, index) => {
        const to = nextIndexes[entity] ?? 0;
        nextIndexes[entity] = to + 1;
        batch.instants[to] = instants[index] ?? 0;
        batch.attributeIndexes[to] = attributeIndexes[index] ?? 0;
        for (let count = 0; count < width; count++) {
          batch.counts[to * width + count] = counts[index * width + count] ?? Number.NaN;
        }
      });
      return batch;
    },
  };
}

function hasSameAttributes(a: AttributeValues, b: AttributeValues): boolean {
  for (const name in a) if (a[name] !== b[name]) return false;
  for (const name in b) if (!(name in a)) return false;
  return true;
}

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
