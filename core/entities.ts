/**
 * Merges observations into entities. The order and repetition of observations make no difference:
 * an attribute has the value of its newest observation (at one instant, the greatest value), and a
 * count has the greatest value that was reported for its instant.
 */
import type { Counts, FieldValue, Observation } from "./observations.ts";
import { compareText } from "./text.ts";

/** The value of an attribute, and the instant of its observation. */
export interface Attribute {
  /** The newest value. */
  readonly value: FieldValue;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

/** The attributes of an entity, by field. */
export type Attributes = Entity["attributes"];

/** An entity: its observations, merged. */
export interface Entity {
  /** The attributes, by field; a field that was never reported is absent. */
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The counts, by the instant of their observation. */
  readonly points: ReadonlyMap<number, Counts>;
}

/** How many observations were new, changed an earlier one, or changed nothing. */
export interface OutcomeCounts {
  /** Observations of an instant that was not known. */
  readonly new: number;
  /** Observations of a known instant that changed a value. */
  readonly changed: number;
  /** Observations that changed nothing. */
  readonly unchanged: number;
}

/** An entity without observations. It cannot be changed: each read of `points` is a new map. */
export const EMPTY_ENTITY: Entity = Object.freeze({
  attributes: Object.freeze({}),
  get points() {
    return new Map();
  },
});

/**
 * Merges one observation into its entity.
 *
 * @returns The next entity, like {@link applyObservations}.
 *
 * @example
 * const observation = { observedAt: 0, attributes: { username: "NASA" }, counts: {} };
 * applyObservation(EMPTY_ENTITY, observation).outcome; // "new"
 */
export function applyObservation(
  entity: Entity,
  observation: Omit<Observation, "kind" | "entityId">,
): { entity: Entity; outcome: keyof OutcomeCounts } {
  const { entity: next, outcomes } = applyObservations(entity, [observation]);
  const outcome = (["new", "changed"] as const).find((name) => outcomes[name] > 0);
  return { entity: next, outcome: outcome ?? "unchanged" };
}

/**
 * Merges observations into their entity.
 *
 * @returns The next entity, and how many observations had each outcome. The entity shares no object
 * that can be changed with the arguments, even if no value changed.
 *
 * @example
 * const observation = { observedAt: 0, attributes: { username: "NASA" }, counts: {} };
 * applyObservations(EMPTY_ENTITY, [observation, observation]).outcomes;
 * // { new: 1, changed: 0, unchanged: 1 }
 */
export function applyObservations(
  entity: Entity,
  observations: Iterable<Omit<Observation, "kind" | "entityId">>,
): { entity: Entity; outcomes: OutcomeCounts } {
  let attributes = copyAttributes(entity.attributes);
  const points = new Map<number, Counts>();
  for (const [at, counts] of entity.points) points.set(at, { ...counts });
  const outcomes = { new: 0, changed: 0, unchanged: 0 };
  for (const observation of observations) {
    const { observedAt } = observation;
    const existingCounts = points.get(observedAt);
    const counts = mergeCounts(existingCounts, observation.counts);
    const merged = mergeAttributes(attributes, observation);
    if (counts === existingCounts && merged === attributes) {
      outcomes.unchanged++;
      continue;
    }
    points.set(observedAt, counts);
    attributes = merged;
    outcomes[existingCounts === undefined ? "new" : "changed"]++;
  }
  return { entity: { attributes, points }, outcomes };
}

function copyAttributes(attributes: Attributes): Attributes {
  const copy: Record<string, Attribute> = { ...attributes };
  for (const name in copy) {
    const attribute = copy[name];
    // Stryker disable next-line ConditionalExpression: only the type needs it.
    if (attribute !== undefined) copy[name] = { ...attribute };
  }
  return copy;
}

/** The greater count wins. Returns `existing` if nothing changed; never `incoming` itself. */
function mergeCounts(existing: Counts | undefined, incoming: Counts): Counts {
  if (existing === undefined) return { ...incoming };
  let merged: Record<string, number | null> | undefined;
  for (const name in incoming) {
    const count = incoming[name] ?? null;
    const existingCount = existing[name] ?? null;
    if (count === null || (existingCount !== null && existingCount >= count)) continue;
    merged ??= { ...existing };
    merged[name] = count;
  }
  return merged ?? existing;
}

/** The newest instant wins, then the greater value. Returns `existing` if nothing changed. */
function mergeAttributes(
  existing: Attributes,
  { attributes, observedAt }: Pick<Observation, "attributes" | "observedAt">,
): Attributes {
  let merged: Record<string, Attribute> | undefined;
  for (const name in attributes) {
    const value = attributes[name];
    // Stryker disable next-line ConditionalExpression: only the type needs it.
    if (value === undefined) continue;
    const incoming = { value, at: observedAt };
    const current = existing[name];
    if (current !== undefined && !isGreater(incoming, current)) continue;
    merged ??= { ...existing };
    merged[name] = incoming;
  }
  return merged ?? existing;
}

function isGreater(a: Attribute, b: Attribute): boolean {
  if (a.at > b.at) return true;
  if (a.at < b.at) return false;
  // Both values have the type of the field.
  return typeof a.value === "string"
    ? compareText(a.value, String(b.value)) > 0
    : a.value > b.value;
}

/**
 * The counts of the newest observation of an entity.
 *
 * @returns `undefined` if it was never observed.
 *
 * @example
 * const points = new Map([[5, { views: 7 }], [9, { views: 8 }]]);
 * findNewestCounts({ attributes: {}, points }); // { at: 9, counts: { views: 8 } }
 */
export function findNewestCounts(entity: Entity): { at: number; counts: Counts } | undefined {
  let at = -Infinity;
  for (const pointAt of entity.points.keys()) at = Math.max(at, pointAt);
  const counts = entity.points.get(at);
  return counts === undefined ? undefined : { at, counts };
}
