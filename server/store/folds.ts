/** What came in of entities, joined with what was known of them. */
import type { Kind } from "../../core/kinds.ts";
import {
  mergeCounts,
  mergeDescription,
  type Counts,
  type Description,
  type Observation,
} from "../../core/observations.ts";

/** What became of a set of observations. */
export interface Observed {
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** An entity of a batch: what was known of it that matters, joined with what came in. */
export interface Fold {
  readonly id: string;
  /** What came in, in its order. */
  readonly incoming: Observation[];
  description: Description;
  /** The instants that came in or could be there already. */
  points: Map<number, Counts>;
  given: Set<number>;
  newestGiven: number;
  counted: Record<keyof Observed, number>;
}

/** What came in of a kind, by entity. */
export function foldsOf(kind: Kind, observations: readonly Observation[]): Map<string, Fold> {
  const folds = new Map<string, Fold>();
  for (const observation of observations) {
    if (observation.kind !== kind) continue;
    const { entity } = observation;
    const known = folds.get(entity);
    if (known !== undefined) {
      known.incoming.push(observation);
      continue;
    }
    folds.set(entity, { id: entity, incoming: [observation], ...nothingKnown() });
  }
  return folds;
}

/** The fold of an entity of which nothing was known, before anything is folded in. */
export const nothingKnown = () => ({
  description: {},
  points: new Map<number, Counts>(),
  given: new Set<number>(),
  newestGiven: -Infinity,
  counted: { new: 0, changed: 0, unchanged: 0 },
});

/** Folds what came in into what is known. */
export function foldIncoming(known: Fold): void {
  for (const observation of known.incoming) known.counted[fold(known, observation)]++;
}

function fold(known: Fold, observation: Observation): keyof Observed {
  const { observedAt } = observation;
  const point = known.points.get(observedAt);
  const counts = mergeCounts(point, observation.counts);
  const description = mergeDescription(known.description, observation);
  if (counts === point && description === known.description) return "unchanged";
  known.points.set(observedAt, counts);
  known.given.add(observedAt);
  known.newestGiven = Math.max(known.newestGiven, observedAt);
  known.description = description;
  return point === undefined ? "new" : "changed";
}
