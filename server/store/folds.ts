/** What came in of entities, joined with what was known of them. */
import { KINDS, type Kind } from "../../core/kinds.ts";
import {
  mergeCounts,
  mergeDescription,
  type Counts,
  type DescribedField,
  type Description,
} from "../../core/observations.ts";
import {
  describedAt,
  instantsOf,
  lastOf,
  observationsOf,
  pointsOf,
  type Batch,
  type Incoming,
} from "./batches.ts";
import type { Point } from "./chunks.ts";

/** What became of a set of observations. */
export interface Observed {
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** What is known of an entity. */
export interface Known {
  readonly description: Description;
  /** The counts of each instant that what came in could be among. */
  readonly points: ReadonlyMap<number, Counts>;
}

/** What is known of an entity with what came in, and what of it was new. */
export interface Joined {
  readonly description: Description;
  /** Oldest first, and lent: each is another once the next is there. */
  readonly points: Iterable<Point>;
  readonly newest: Point;
  readonly counted: Observed;
}

/** What came in of an entity. */
export interface Fold {
  readonly id: string;
  readonly incoming: Incoming;
  joined: Joined;
}

const NOTHING: Known = { description: {}, points: new Map() };

/** What came in of a kind, by entity, as if nothing was known of them. */
export function foldsOf(batch: Batch): Map<string, Fold> {
  const folds = new Map<string, Fold>();
  let from = 0;
  batch.ids.forEach((id, entity) => {
    const to = batch.ends[entity] ?? from;
    const incoming = { batch, from, to };
    folds.set(id, { id, incoming, joined: joinIncoming(incoming) });
    from = to;
  });
  return folds;
}

/** Joins what came in with what is known, if anything is, as the domain does one by one. */
export function joinIncoming(incoming: Incoming, known: Known = NOTHING): Joined {
  if (known === NOTHING && isRising(instantsOf(incoming))) return joinRising(incoming);
  const points = new Map(known.points);
  const counted = { new: 0, changed: 0, unchanged: 0 };
  let { description } = known;
  for (const observation of observationsOf(incoming)) {
    const { observedAt } = observation;
    const point = points.get(observedAt);
    const counts = mergeCounts(point, observation.counts);
    const described = mergeDescription(description, observation);
    const isUnchanged = counts === point && described === description;
    if (!isUnchanged) points.set(observedAt, counts);
    description = described;
    counted[isUnchanged ? "unchanged" : point === undefined ? "new" : "changed"]++;
  }
  const sorted = inOrder(incoming.batch.kind, points);
  // Something came in, so there is one.
  const newest = sorted.at(-1) ?? lastOf(incoming);
  return { description, points: sorted, newest, counted };
}

function inOrder(kind: Kind, points: ReadonlyMap<number, Counts>): Point[] {
  const names = KINDS[kind].counts;
  return [...points]
    .map(([at, counts]) => ({ at, counts: names.map((name) => counts[name] ?? null) }))
    .toSorted((a, b) => a.at - b.at);
}

function isRising(instants: Float64Array): boolean {
  for (let index = 1; index < instants.length; index++) {
    if (!((instants[index] ?? 0) > (instants[index - 1] ?? 0))) return false;
  }
  return true;
}

/** What came in one after the other is the points as it is, and the last value given wins. */
function joinRising(incoming: Incoming): Joined {
  const { batch, from, to } = incoming;
  const description: Record<string, DescribedField> = {};
  let after: number | undefined;
  for (let index = to - 1; index >= from; index--) {
    // What one gives that came in after it too changes nothing.
    if (batch.described[index] === after) continue;
    after = batch.described[index];
    const described = describedAt(batch, index);
    for (const name in described) {
      const value = described[name];
      if (value !== undefined) description[name] ??= { value, at: batch.instants[index] ?? 0 };
    }
  }
  const points = { [Symbol.iterator]: () => pointsOf(incoming) };
  const counted = { new: to - from, changed: 0, unchanged: 0 };
  return { description, points, newest: lastOf(incoming), counted };
}
