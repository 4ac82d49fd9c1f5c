/** Reads the fields of an entity for its resources: `null` is unknown. */
import { findNewestCounts, type Entity } from "../entities.ts";
import { ENTITY_FIELDS, type EntityKind } from "../entity-kinds.ts";
import type { HistoryPoint } from "../buckets.ts";

/** Reads fields by name: attributes by their type, and the counts of the newest observation. */
export interface FieldReader {
  /** The newest observation, in milliseconds since 1970 UTC; `null` if there is none. */
  readonly observedAt: number | null;
  /** Returns a text or a link. */
  readText(name: string): string | null;
  /** Returns milliseconds since 1970 UTC. */
  readInstant(name: string): number | null;
  /** Returns a boolean. */
  readBoolean(name: string): boolean | null;
  /** Returns a count of the newest observation. */
  readCount(name: string): number | null;
}

/**
 * Creates the reader of an entity.
 *
 * @example
 * const points = new Map([[5, { views: 7 }]]);
 * createFieldReader({ attributes: {}, points }).readCount("views"); // 7
 */
export function createFieldReader(entity: Entity): FieldReader {
  const newest = findNewestCounts(entity);
  const readValue = (name: string) => entity.attributes[name]?.value;
  return {
    observedAt: newest?.at ?? null,
    readText(name) {
      const value = readValue(name);
      return typeof value === "string" ? value : null;
    },
    readInstant(name) {
      const value = readValue(name);
      return typeof value === "number" ? value : null;
    },
    readBoolean(name) {
      const value = readValue(name);
      return typeof value === "boolean" ? value : null;
    },
    readCount: (name) => newest?.counts[name] ?? null,
  };
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
