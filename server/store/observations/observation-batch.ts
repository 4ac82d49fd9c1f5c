/**
 * Batches: the observations of one kind, grouped by entity, as columns. A block of lines holds a
 * hundred thousand numbers; typed arrays move from thread to thread without a copy, and no number
 * needs an object.
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

/** Collects observations of any kinds into one batch for each kind. */
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
