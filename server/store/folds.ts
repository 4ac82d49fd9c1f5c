/** What came in of entities, joined with what was known of them. */
import type { Kind } from "../../core/kinds.ts";
import {
  mergeCounts,
  mergeDescription,
  type Counts,
  type DescribedField,
  type Description,
  type Observation,
} from "../../core/observations.ts";

/** What became of a set of observations. */
export interface Observed {
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** The counts of an instant. */
export interface TimedCounts {
  readonly observedAt: number;
  readonly counts: Counts;
}

/** What is known of an entity. */
export interface Known {
  readonly description: Description;
  /** The points that what came in could be among. */
  readonly points: readonly TimedCounts[];
}

/** What is known of an entity with what came in, and what of it was new. */
export interface Joined extends Known {
  /** Oldest first. */
  readonly points: readonly TimedCounts[];
  readonly counted: Observed;
}

/** What came in of an entity, in its order. */
export interface Fold {
  readonly id: string;
  readonly incoming: readonly Observation[];
  joined: Joined;
}

const NOTHING: Known = { description: {}, points: [] };

/** What came in of a kind, by entity, as if nothing was known of them. */
export function foldsOf(kind: Kind, observations: readonly Observation[]): Map<string, Fold> {
  const byEntity = new Map<string, Observation[]>();
  for (const observation of observations) {
    if (observation.kind !== kind) continue;
    const incoming = byEntity.get(observation.entity);
    if (incoming === undefined) byEntity.set(observation.entity, [observation]);
    else incoming.push(observation);
  }
  const folds = new Map<string, Fold>();
  for (const [id, incoming] of byEntity) {
    folds.set(id, { id, incoming, joined: joinIncoming(incoming) });
  }
  return folds;
}

/** Joins what came in with what is known, if anything is, as the domain does one by one. */
export function joinIncoming(incoming: readonly Observation[], known: Known = NOTHING): Joined {
  if (known === NOTHING && isRising(incoming)) return joinRising(incoming);
  const points = new Map(known.points.map((point) => [point.observedAt, point]));
  const counted = { new: 0, changed: 0, unchanged: 0 };
  let { description } = known;
  for (const observation of incoming) {
    const { observedAt } = observation;
    const point = points.get(observedAt)?.counts;
    const counts = mergeCounts(point, observation.counts);
    const described = mergeDescription(description, observation);
    const isUnchanged = counts === point && described === description;
    if (!isUnchanged) points.set(observedAt, { observedAt, counts });
    description = described;
    counted[isUnchanged ? "unchanged" : point === undefined ? "new" : "changed"]++;
  }
  const inOrder = [...points.values()].toSorted((a, b) => a.observedAt - b.observedAt);
  return { description, points: inOrder, counted };
}

function isRising(incoming: readonly Observation[]): boolean {
  return incoming.every(
    ({ observedAt }, index) => observedAt > (incoming[index - 1]?.observedAt ?? -Infinity),
  );
}

/** What came in one after the other is the points as it is, and the last value given wins. */
function joinRising(incoming: readonly Observation[]): Joined {
  const description: Record<string, DescribedField> = {};
  for (const { described, observedAt } of incoming.toReversed()) {
    for (const name in described) {
      const value = described[name];
      if (value !== undefined) description[name] ??= { value, at: observedAt };
    }
  }
  const counted = { new: incoming.length, changed: 0, unchanged: 0 };
  return { description, points: incoming, counted };
}
