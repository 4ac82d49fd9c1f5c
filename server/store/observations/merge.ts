/** What came in of entities, joined with what was known of them. */
import { KIND_FIELDS, type EntityKind } from "../../../core/entity-kinds.ts";
import {
  mergeCounts,
  mergeAttributes,
  type Counts,
  type Attribute,
  type Attributes,
} from "../../../core/observations.ts";
import type { OutcomeCounts } from "../../ports/reads.ts";
import {
  getAttributeValues,
  sliceInstants,
  getLastPoint,
  iterateObservations,
  iteratePoints,
  type ObservationBatch,
  type BatchSlice,
} from "./observation-batch.ts";
import type { Point } from "../history/chunk-codec.ts";

/** What is known of an entity. */
export interface ExistingState {
  readonly attributes: Attributes;
  /** The counts of each instant that what came in could be among. */
  readonly points: ReadonlyMap<number, Counts>;
}

/** What is known of an entity with what came in, and what of it was new. */
export interface MergedEntity {
  readonly attributes: Attributes;
  /** Oldest first, and lent: each is another once the next is there. */
  readonly points: Iterable<Point>;
  readonly newest: Point;
  readonly outcomeCounts: OutcomeCounts;
}

/** What came in of an entity. */
export interface PendingEntity {
  readonly id: string;
  readonly incoming: BatchSlice;
  merged: MergedEntity;
}

const NO_STATE: ExistingState = { attributes: {}, points: new Map() };

/** What came in of a kind, by entity, as if nothing was known of them. */
export function createPendingEntities(batch: ObservationBatch): Map<string, PendingEntity> {
  const pending = new Map<string, PendingEntity>();
  let from = 0;
  batch.entityIds.forEach((id, entity) => {
    const to = batch.ends[entity] ?? from;
    const incoming = { batch, from, to };
    pending.set(id, { id, incoming, merged: mergeIncoming(incoming) });
    from = to;
  });
  return pending;
}

/** Joins what came in with what is known, if anything is, as the domain does one by one. */
export function mergeIncoming(
  incoming: BatchSlice,
  existing: ExistingState = NO_STATE,
): MergedEntity {
  if (existing === NO_STATE && isAscending(sliceInstants(incoming)))
    return mergeAscending(incoming);
  const points = new Map(existing.points);
  const outcomeCounts = { new: 0, changed: 0, unchanged: 0 };
  let { attributes: description } = existing;
  for (const observation of iterateObservations(incoming)) {
    const { observedAt } = observation;
    const point = points.get(observedAt);
    const counts = mergeCounts(point, observation.counts);
    const described = mergeAttributes(description, observation);
    const isUnchanged = counts === point && described === description;
    if (!isUnchanged) points.set(observedAt, counts);
    description = described;
    outcomeCounts[isUnchanged ? "unchanged" : point === undefined ? "new" : "changed"]++;
  }
  const sorted = sortPoints(incoming.batch.kind, points);
  // Something came in, so there is one.
  const newest = sorted.at(-1) ?? getLastPoint(incoming);
  return { attributes: description, points: sorted, newest, outcomeCounts };
}

function sortPoints(kind: EntityKind, points: ReadonlyMap<number, Counts>): Point[] {
  const names = KIND_FIELDS[kind].counts;
  return [...points]
    .map(([at, counts]) => ({ at, counts: names.map((name) => counts[name] ?? null) }))
    .toSorted((a, b) => a.at - b.at);
}

function isAscending(instants: Float64Array): boolean {
  for (let index = 1; index < instants.length; index++) {
    if (!((instants[index] ?? 0) > (instants[index - 1] ?? 0))) return false;
  }
  return true;
}

/** What came in one after the other is the points as it is, and the last value given wins. */
function mergeAscending(incoming: BatchSlice): MergedEntity {
  const { batch, from, to } = incoming;
  const description: Record<string, Attribute> = {};
  let nextDescribed: number | undefined;
  for (let index = to - 1; index >= from; index--) {
    // What one gives that came in after it too changes nothing.
    if (batch.described[index] === nextDescribed) continue;
    nextDescribed = batch.described[index];
    const described = getAttributeValues(batch, index);
    for (const name in described) {
      const value = described[name];
      if (value !== undefined) description[name] ??= { value, at: batch.instants[index] ?? 0 };
    }
  }
  const points = { [Symbol.iterator]: () => iteratePoints(incoming) };
  const outcomeCounts = { new: to - from, changed: 0, unchanged: 0 };
  return { attributes: description, points, newest: getLastPoint(incoming), outcomeCounts };
}
