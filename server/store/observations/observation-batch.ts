/**
 * Observations of a kind, by entity, as columns. A block of them holds a hundred thousand numbers:
 * as columns they cross from thread to thread at once, and none of them is an object.
 */
import { ENTITY_KINDS, KIND_FIELDS, type EntityKind } from "../../../core/entity-kinds.ts";
import type { Counts, Observation } from "../../../core/observations.ts";
import type { Point } from "../history/chunk-codec.ts";

/** What an observation describes its entity with. */
export type AttributeValues = Observation["attributes"];

/** The numbers of a batch. */
export interface BatchColumns {
  /** Of each entity, where its observations end. */
  readonly ends: Uint32Array;
  /** Of each observation, milliseconds since 1970 UTC. */
  readonly instants: Float64Array;
  /** Of each observation its counts, in the order of the kind; NaN where the source didn't tell. */
  readonly counts: Float64Array;
  /** Of each observation, which of the descriptions it gave. */
  readonly described: Uint32Array;
}

/** Observations of a kind: those of one entity follow one another, in the order they came in. */
export interface ObservationBatch extends BatchColumns {
  readonly kind: EntityKind;
  /** The entities. */
  readonly entityIds: readonly string[];
  readonly attributeSets: readonly AttributeValues[];
}

/** Gathers observations by kind and entity, of which it keeps what is different. */
export interface BatchBuilder {
  add(observation: Observation): void;
  build(): ObservationBatch[];
}

/** Makes a gatherer. */
export function createBatchBuilder(): BatchBuilder {
  const builders = new Map<EntityKind, KindBatchBuilder>();
  return {
    add(observation) {
      let builder = builders.get(observation.kind);
      if (builder === undefined) {
        builder = createKindBatchBuilder(observation.kind);
        builders.set(observation.kind, builder);
      }
      builder.add(observation);
    },
    build: () => ENTITY_KINDS.flatMap((kind) => builders.get(kind)?.build() ?? []),
  };
}

interface KindBatchBuilder {
  add(observation: Observation): void;
  build(): ObservationBatch;
}

function createKindBatchBuilder(kind: EntityKind): KindBatchBuilder {
  const countNames = KIND_FIELDS[kind].counts;
  const indexById = new Map<string, number>();
  /** Of each entity: how many observations it has, and where its last description is, else -1. */
  const sizes: number[] = [];
  const lastAttributeIndexes: number[] = [];
  /** Of each observation: its entity, and what the columns hold. */
  const entityIndexes: number[] = [];
  const instants: number[] = [];
  const counts: number[] = [];
  const descriptions: AttributeValues[] = [];
  const attributeIndexes: number[] = [];

  function getOrAddEntity(id: string): number {
    let place = indexById.get(id);
    if (place === undefined) {
      place = indexById.size;
      indexById.set(id, place);
      sizes.push(0);
      lastAttributeIndexes.push(-1);
    }
    return place;
  }

  return {
    add(observation) {
      const place = getOrAddEntity(observation.entityId);
      const last = lastAttributeIndexes[place] ?? -1;
      const before = descriptions[last];
      if (before !== undefined && hasSameAttributes(before, observation.attributes)) {
        attributeIndexes.push(last);
      } else {
        attributeIndexes.push(descriptions.length);
        lastAttributeIndexes[place] = descriptions.length;
        descriptions.push(observation.attributes);
      }
      sizes[place] = (sizes[place] ?? 0) + 1;
      entityIndexes.push(place);
      instants.push(observation.observedAt);
      for (const name of countNames) counts.push(observation.counts[name] ?? Number.NaN);
    },
    build() {
      const ends = Uint32Array.from(sizes);
      for (let place = 1; place < ends.length; place++) {
        ends[place] = (ends[place] ?? 0) + (ends[place - 1] ?? 0);
      }
      const nextIndexes = ends.map((end, place) => end - (sizes[place] ?? 0));
      const columns = {
        ends,
        instants: new Float64Array(instants.length),
        counts: new Float64Array(counts.length),
        described: new Uint32Array(attributeIndexes.length),
      };
      const width = countNames.length;
      entityIndexes.forEach((place, index) => {
        const to = nextIndexes[place] ?? 0;
        nextIndexes[place] = to + 1;
        columns.instants[to] = instants[index] ?? 0;
        columns.described[to] = attributeIndexes[index] ?? 0;
        for (let count = 0; count < width; count++) {
          columns.counts[to * width + count] = counts[index * width + count] ?? Number.NaN;
        }
      });
      return { kind, entityIds: [...indexById.keys()], attributeSets: descriptions, ...columns };
    },
  };
}

function hasSameAttributes(a: AttributeValues, b: AttributeValues): boolean {
  for (const name in a) if (a[name] !== b[name]) return false;
  for (const name in b) if (!(name in a)) return false;
  return true;
}

/** The observations of one entity in a batch: from one place up to another. */
export interface BatchSlice {
  readonly batch: ObservationBatch;
  readonly from: number;
  readonly to: number;
}

/** The instants of what came in, in its order. */
export function sliceInstants({ batch, from, to }: BatchSlice): Float64Array {
  return batch.instants.subarray(from, to);
}

/** What an observation of a batch describes its entity with. */
export function getAttributeValues(
  { attributeSets: descriptions, described }: ObservationBatch,
  index: number,
): AttributeValues {
  return descriptions[described[index] ?? 0] ?? {};
}

/** What came in, one by one, as the domain takes it. */
export function* iterateObservations({ batch, from, to }: BatchSlice) {
  const names = KIND_FIELDS[batch.kind].counts;
  for (let index = from; index < to; index++) {
    const counts: Record<string, number | null> = {};
    names.forEach((name, place) => (counts[name] = getCount(batch, index * names.length + place)));
    yield {
      observedAt: batch.instants[index] ?? 0,
      attributes: getAttributeValues(batch, index),
      counts: counts satisfies Counts,
    };
  }
}

/** What came in, as points in its order. They are lent: each is another once the next is there. */
export function* iteratePoints({ batch, from, to }: BatchSlice): Generator<Point> {
  const reusedCounts: (number | null)[] = [];
  for (let index = from; index < to; index++) yield getPoint(batch, index, reusedCounts);
}

/** The last of what came in, as a point. */
export function getLastPoint({ batch, to }: BatchSlice): Point {
  return getPoint(batch, to - 1, []);
}

/** An observation of a batch as a point, its counts in the array that is given for them. */
function getPoint(batch: ObservationBatch, index: number, counts: (number | null)[]): Point {
  const { length } = KIND_FIELDS[batch.kind].counts;
  for (let place = 0; place < length; place++) {
    counts[place] = getCount(batch, index * length + place);
  }
  return { at: batch.instants[index] ?? 0, counts };
}

function getCount({ counts }: ObservationBatch, index: number): number | null {
  const count = counts[index] ?? Number.NaN;
  return Number.isNaN(count) ? null : count;
}
