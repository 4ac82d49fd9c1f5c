/** Reads the fields, counts and history points of an entity, for responses. `null` is unknown. */
import type { HistoryPoint } from "../buckets.ts";
import { findNewestCounts, type Entity } from "../entities.ts";
import {
  ENTITY_FIELDS,
  type EntityCounts,
  type EntityFields,
  type EntityKind,
  type FieldType,
  type KINDS,
} from "../kinds.ts";

/** The `typeof` of the values of each type of attribute. */
const VALUE_TYPES = {
  identifier: "string",
  text: "string",
  link: "string",
  instant: "number",
  boolean: "boolean",
};

/** The known fields of an entity. Instants are milliseconds since 1970 UTC. */
export type KnownFields<Kind extends EntityKind> = {
  readonly [Name in keyof (typeof KINDS)[Kind]["attributes"]]:
    | {
        instant: number;
        boolean: boolean;
        identifier: string;
        text: string;
        link: string;
      }[(typeof KINDS)[Kind]["attributes"][Name] & FieldType]
    | null;
} & Readonly<EntityCounts<Kind>> &
  Readonly<Record<(typeof KINDS)[Kind]["idField"], string>>;

/**
 * Reads the newest values of the attributes of an entity, and the counts of its newest observation.
 *
 * @param id The identifier of the entity; of a user, the username, see `findUsername()`.
 * @param entity Its observations, merged.
 *
 * @example
 * const points = new Map([[5, { views: 7 }]]);
 * readFields("short", "s1", { attributes: {}, points }).views; // 7
 */
export function readFields<Kind extends EntityKind>(
  kind: Kind,
  id: string,
  entity: Entity,
): KnownFields<Kind> {
  const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const newest = findNewestCounts(entity)?.counts ?? {};
  const entries = Object.entries(attributes).map(([name, type]) => {
    const value = entity.attributes[name]?.value;
    return [name, typeof value === VALUE_TYPES[type] ? value : null];
  });
  const fields = {
    ...Object.fromEntries(entries),
    ...Object.fromEntries(counts.map((name) => [name, newest[name] ?? null])),
    [idField]: id,
  };
  // `Object.fromEntries()` does not know the names.
  return fields as KnownFields<Kind>;
}

/** Names counts that are in the order of their kind. A missing count becomes `null`. */
export function nameCounts<Kind extends EntityKind>(
  kind: Kind,
  counts: readonly (number | null)[],
): EntityCounts<Kind> {
  const named: Record<string, number | null> = {};
  ENTITY_FIELDS[kind].counts.forEach((name, index) => (named[name] = counts[index] ?? null));
  return named as EntityCounts<Kind>;
}

/** Picks the counts from the known fields of an entity. */
export function pickCounts<Kind extends EntityKind>(
  kind: Kind,
  fields: Readonly<EntityCounts<Kind>>,
): EntityCounts<Kind> {
  const names: readonly (keyof EntityCounts<Kind>)[] = ENTITY_FIELDS[kind].counts;
  return nameCounts(
    kind,
    names.map((name) => fields[name]),
  );
}

/**
 * Lists the points of an entity, oldest first, with the counts in the order of the kind.
 *
 * @example
 * const points = new Map([[5, { followers_count: 7 }]]);
 * listHistoryPoints("user", { attributes: {}, points }); // [{ at: 5, counts: [7, null, null] }]
 */
export function listHistoryPoints(kind: EntityKind, { points }: Entity): HistoryPoint[] {
  const names = ENTITY_FIELDS[kind].counts;
  return Array.from(points, ([at, counts]) => ({
    at,
    counts: names.map((name) => counts[name] ?? null),
  })).toSorted((a, b) => a.at - b.at);
}
