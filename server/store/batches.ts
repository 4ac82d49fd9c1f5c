/**
 * Observations of a kind, by entity, as columns. A block of them holds a hundred thousand numbers:
 * as columns they cross from thread to thread at once, and none of them is an object.
 */
import { KIND_NAMES, KINDS, type Kind } from "../../core/kinds.ts";
import type { Counts, Observation } from "../../core/observations.ts";
import type { Point } from "./chunks.ts";

/** What an observation describes its entity with. */
export type Described = Observation["described"];

/** The numbers of a batch. */
export interface Columns {
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
export interface Batch extends Columns {
  readonly kind: Kind;
  /** The entities. */
  readonly ids: readonly string[];
  readonly descriptions: readonly Described[];
}

/** Gathers observations by kind and entity, of which it keeps what is different. */
export interface Gatherer {
  add(observation: Observation): void;
  batches(): Batch[];
}

/** Makes a gatherer. */
export function createGatherer(): Gatherer {
  const kinds = new Map<Kind, KindGatherer>();
  return {
    add(observation) {
      let gatherer = kinds.get(observation.kind);
      if (gatherer === undefined) {
        gatherer = gatherKind(observation.kind);
        kinds.set(observation.kind, gatherer);
      }
      gatherer.add(observation);
    },
    batches: () => KIND_NAMES.flatMap((kind) => kinds.get(kind)?.batch() ?? []),
  };
}

interface KindGatherer {
  add(observation: Observation): void;
  batch(): Batch;
}

function gatherKind(kind: Kind): KindGatherer {
  const names = KINDS[kind].counts;
  const places = new Map<string, number>();
  /** Of each entity: how many observations it has, and where its last description is, else -1. */
  const sizes: number[] = [];
  const lasts: number[] = [];
  /** Of each observation: its entity, and what the columns hold. */
  const entities: number[] = [];
  const instants: number[] = [];
  const counts: number[] = [];
  const descriptions: Described[] = [];
  const described: number[] = [];

  function placeOf(id: string): number {
    let place = places.get(id);
    if (place === undefined) {
      place = places.size;
      places.set(id, place);
      sizes.push(0);
      lasts.push(-1);
    }
    return place;
  }

  return {
    add(observation) {
      const place = placeOf(observation.entity);
      const last = lasts[place] ?? -1;
      const before = descriptions[last];
      if (before !== undefined && isSame(before, observation.described)) {
        described.push(last);
      } else {
        described.push(descriptions.length);
        lasts[place] = descriptions.length;
        descriptions.push(observation.described);
      }
      sizes[place] = (sizes[place] ?? 0) + 1;
      entities.push(place);
      instants.push(observation.observedAt);
      for (const name of names) counts.push(observation.counts[name] ?? Number.NaN);
    },
    batch() {
      const ends = Uint32Array.from(sizes);
      for (let place = 1; place < ends.length; place++) {
        ends[place] = (ends[place] ?? 0) + (ends[place - 1] ?? 0);
      }
      const nexts = ends.map((end, place) => end - (sizes[place] ?? 0));
      const columns = {
        ends,
        instants: new Float64Array(instants.length),
        counts: new Float64Array(counts.length),
        described: new Uint32Array(described.length),
      };
      const width = names.length;
      entities.forEach((place, index) => {
        const to = nexts[place] ?? 0;
        nexts[place] = to + 1;
        columns.instants[to] = instants[index] ?? 0;
        columns.described[to] = described[index] ?? 0;
        for (let count = 0; count < width; count++) {
          columns.counts[to * width + count] = counts[index * width + count] ?? Number.NaN;
        }
      });
      return { kind, ids: [...places.keys()], descriptions, ...columns };
    },
  };
}

function isSame(one: Described, other: Described): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
}

/** The observations of one entity in a batch: from one place up to another. */
export interface Incoming {
  readonly batch: Batch;
  readonly from: number;
  readonly to: number;
}

/** The instants of what came in, in its order. */
export function instantsOf({ batch, from, to }: Incoming): Float64Array {
  return batch.instants.subarray(from, to);
}

/** What an observation of a batch describes its entity with. */
export function describedAt({ descriptions, described }: Batch, index: number): Described {
  return descriptions[described[index] ?? 0] ?? {};
}

/** What came in, one by one, as the domain takes it. */
export function* observationsOf({ batch, from, to }: Incoming) {
  const names = KINDS[batch.kind].counts;
  for (let index = from; index < to; index++) {
    const counts: Record<string, number | null> = {};
    names.forEach((name, place) => (counts[name] = countAt(batch, index * names.length + place)));
    yield {
      observedAt: batch.instants[index] ?? 0,
      described: describedAt(batch, index),
      counts: counts satisfies Counts,
    };
  }
}

/** What came in, as points in its order. They are lent: each is another once the next is there. */
export function* pointsOf({ batch, from, to }: Incoming): Generator<Point> {
  const lent: (number | null)[] = [];
  for (let index = from; index < to; index++) yield pointAt(batch, index, lent);
}

/** The last of what came in, as a point. */
export function lastOf({ batch, to }: Incoming): Point {
  return pointAt(batch, to - 1, []);
}

/** An observation of a batch as a point, its counts in the array that is given for them. */
function pointAt(batch: Batch, index: number, counts: (number | null)[]): Point {
  const { length } = KINDS[batch.kind].counts;
  for (let place = 0; place < length; place++) {
    counts[place] = countAt(batch, index * length + place);
  }
  return { at: batch.instants[index] ?? 0, counts };
}

function countAt({ counts }: Batch, place: number): number | null {
  const count = counts[place] ?? Number.NaN;
  return Number.isNaN(count) ? null : count;
}
