/** Merges the observations of a batch, entity by entity, with the stored ones. */
import { listHistoryPoints } from "../../../core/responses/entity-fields.ts";
import {
  getAttributeValues,
  sliceInstants,
  getLastPoint,
  iterateObservations,
  iteratePoints,
  type ObservationBatch,
  type BatchSlice,
} from "./observation-batch.ts";
import type { Chunk, Point } from "../history/chunk-codec.ts";
import {
  EMPTY_ENTITY,
  applyObservations,
  type Attribute,
  type Attributes,
  type Entity,
  type OutcomeCounts,
} from "../../../core/entities.ts";

/** An entity after a merge, as far as it has to be written. */
interface MergedEntity {
  readonly attributes: Attributes;
  /** Oldest first. The iterable may reuse one array of counts: copy it to keep it. */
  readonly points: Iterable<Point>;
  readonly newest: Point;
  readonly outcomeCounts: OutcomeCounts;
}

/** The incoming observations of an entity, and the result of the merge so far. */
export interface PendingEntity {
  readonly id: string;
  readonly incoming: BatchSlice;
  merged: MergedEntity;
  /** Its key and chunks, if it is in the database. */
  stored?: StoredEntity;
  /** Its gains once it is written, in the order of the kind. */
  gains?: readonly (number | null)[];
}

/** The key and the chunks of a pending entity that is in the database. */
interface StoredEntity {
  readonly key: number;
  /** Whether all incoming observations are newer than all stored ones. */
  readonly isAppend: boolean;
  /** If `isAppend`, the last chunk; else the chunks that incoming observations fall into. */
  readonly chunks: readonly Chunk[];
}

/** Merges each entity of a batch as if nothing were stored; returns them by identifier. */
export function createPendingEntities(batch: ObservationBatch): Map<string, PendingEntity> {
  const pending = new Map<string, PendingEntity>();
  let from = 0;
  batch.entityIds.forEach((id, entityIndex) => {
    const to = batch.ends[entityIndex] ?? from;
    const incoming = { batch, from, to };
    pending.set(id, { id, incoming, merged: mergeIncoming(incoming) });
    from = to;
  });
  return pending;
}

/** Merges incoming observations with the stored attributes and points that they can affect. */
export function mergeIncoming(incoming: BatchSlice, existing: Entity = EMPTY_ENTITY): MergedEntity {
  if (existing === EMPTY_ENTITY && isAscending(sliceInstants(incoming))) {
    return mergeAscending(incoming);
  }
  const { entity, outcomes } = applyObservations(existing, iterateObservations(incoming));
  const points = listHistoryPoints(incoming.batch.kind, entity);
  const newest = points.at(-1) ?? getLastPoint(incoming);
  return { attributes: entity.attributes, points, newest, outcomeCounts: outcomes };
}

function isAscending(instants: Float64Array): boolean {
  return instants.every((instant, index) => index === 0 || instant > (instants[index - 1] ?? 0));
}

/**
 * Merges observations in the order of time without a map of points, as most imports come: each is
 * new, and the last value of a field wins. `tests/store/observations/write.test.ts` compares the
 * result with core's.
 */
function mergeAscending(incoming: BatchSlice): MergedEntity {
  const { batch, from, to } = incoming;
  const attributes: Record<string, Attribute> = {};
  let lastAttributeIndex: number | undefined;
  for (let index = to - 1; index >= from; index--) {
    // Skips attributes that are the same as those of the observation after it.
    if (batch.attributeIndexes[index] === lastAttributeIndex) continue;
    lastAttributeIndex = batch.attributeIndexes[index];
    const values = getAttributeValues(batch, index);
    for (const name in values) {
      const value = values[name];
      if (value !== undefined) attributes[name] ??= { value, at: batch.instants[index] ?? 0 };
    }
  }
  const points = { [Symbol.iterator]: () => iteratePoints(incoming) };
  const outcomeCounts = { new: to - from, changed: 0, unchanged: 0 };
  return { attributes, points, newest: getLastPoint(incoming), outcomeCounts };
}
