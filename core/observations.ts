/**
 * Observations: what a source saw of one entity at one instant. All data comes in as these.
 *
 * The state of an entity is a function of the set of its observations, whatever order they came
 * in and however often. Each describing field is the greatest pair of instant and value that was
 * given; the counts of an instant are the greatest that were given for it. Both are joins, so
 * applying them commutes, associates and repeats without effect.
 */
import { DomainError, quote } from "./errors.ts";
import {
  ENTITY_KINDS,
  KIND_FIELDS,
  type FieldType,
  type EntityKind,
  type EntityFields,
} from "./entity-kinds.ts";
import {
  CLOCK_SKEW_MAX_MS,
  IDENTIFIER_MAX_CHARACTERS,
  LINK_MAX_CHARACTERS,
  MAX_INTEGER,
  TEXT_MAX_CHARACTERS,
} from "./limits.ts";
import { compareText, foldCase, hasControlCharacter, isLongerThan, isStorable } from "./text.ts";
import { formatInstant, INSTANT_SYNTAX, parseInstant } from "./time.ts";

/** The value of a describing field; an instant is in milliseconds. */
export type FieldValue = string | number | boolean;

/** The counts of one instant, by name; `null` where the source didn't tell. */
export type Counts = Readonly<Record<string, number | null>>;

/** A checked observation. */
export interface Observation {
  readonly kind: EntityKind;
  /** Which entity: its identifier; of a user, the username in lower case. */
  readonly entityId: string;
  /** Milliseconds since 1970 UTC. */
  readonly observedAt: number;
  /** The describing fields that the source gave. */
  readonly attributes: Readonly<Record<string, FieldValue>>;
  /** Every count of the kind. */
  readonly counts: Counts;
}

/**
 * Reads one line of observations (NDJSON).
 *
 * @param line The line, without its line end, of at most `LINE_MAX_BYTES` bytes.
 * @param now Milliseconds since 1970 UTC: nothing is observed in the future.
 * @throws {DomainError} `Invalid Request`, saying what is wrong with the line.
 *
 * @example
 * parseObservationLine('{"kind":"user","observedAt":"2026-11-20","username":"NASA"}', Date.now());
 */
export function parseObservationLine(line: string, now: number): Observation {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalidRequestError(`The line must be a JSON object, got ${quote(line)}`);
  }
  // Only an escape can hide one of the characters that a store would change, or a line that was
  // not read from UTF-8.
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(line) || !line.isWellFormed()) assertStorableTexts(value);
  return parseObservation(value, now);
}

/**
 * Checks one observation.
 *
 * @param value What a line of observations holds, parsed. Unknown fields are ignored.
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, naming the field, what it was and what is allowed.
 */
export function parseObservation(value: unknown, now: number): Observation {
  if (!isRecord(value))
    throw invalidRequestError(`An observation must be a JSON object, got ${quote(value)}`);
  const kind = ENTITY_KINDS.find((name) => name === value["kind"]);
  if (kind === undefined) {
    throw invalidRequestError(
      `kind must be one of ${ENTITY_KINDS.join(", ")}, got ${quote(value["kind"])}`,
    );
  }
  const fields: EntityFields = KIND_FIELDS[kind];
  const observedAt = parseObservedAt(value["observedAt"], now);
  const identity = parseField(fields.identity, "identifier", value[fields.identity]);
  const attributes: Record<string, FieldValue> = {};
  for (const [name, type] of ATTRIBUTE_FIELDS[kind]) {
    const rawValue = value[name];
    if (type !== "identifier" && (rawValue === undefined || rawValue === null)) continue;
    attributes[name] = parseField(name, type, rawValue);
  }
  const counts: Record<string, number | null> = {};
  for (const name of fields.counts) counts[name] = parseCount(name, value[name]);
  const entityId = kind === "user" ? foldCase(String(identity)) : String(identity);
  return { kind, entityId, observedAt, attributes, counts };
}

/** The describing fields of each kind, as they are gone through for every line. */
const ATTRIBUTE_FIELDS: Readonly<Record<EntityKind, readonly (readonly [string, FieldType])[]>> = {
  channel: Object.entries(KIND_FIELDS.channel.described),
  short: Object.entries(KIND_FIELDS.short.described),
  user: Object.entries(KIND_FIELDS.user.described),
  tweet: Object.entries(KIND_FIELDS.tweet.described),
};

function parseObservedAt(value: unknown, now: number): number {
  const observedAt = parseField("observedAt", "instant", value);
  if (typeof observedAt !== "number" || observedAt > now + CLOCK_SKEW_MAX_MS) {
    throw invalidRequestError(
      `observedAt must not be more than 5 minutes ahead of the clock, ${formatInstant(now)}, ` +
        `got ${quote(value)}`,
    );
  }
  return observedAt;
}

function parseCount(name: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidRequestError(
      `${name} must be a whole number from 0 to ${MAX_INTEGER}, got ${quote(value)}`,
    );
  }
  return value + 0; // -0 becomes 0
}

function parseField(name: string, type: FieldType, value: unknown): FieldValue {
  if (type === "boolean") {
    if (typeof value === "boolean") return value;
    throw invalidRequestError(`${name} must be true or false, got ${quote(value)}`);
  }
  if (typeof value !== "string")
    throw invalidRequestError(`${name} must be a string, got ${quote(value)}`);
  if (type === "instant") {
    const instant = parseInstant(value);
    if (instant === undefined)
      throw invalidRequestError(`${name} must be ${INSTANT_SYNTAX}, got ${quote(value)}`);
    return instant;
  }
  if (!isStorable(value))
    throw invalidRequestError(`${name} must have no NUL and no lone surrogate`);
  const max = MAX_CHARACTERS[type];
  if (isLongerThan(value, max))
    throw invalidRequestError(`${name} must have at most ${max} characters`);
  if (type === "identifier") {
    if (value === "") throw invalidRequestError(`${name} must not be empty`);
    if (hasControlCharacter(value)) {
      throw invalidRequestError(`${name} must have no control character, got ${quote(value)}`);
    }
  }
  return value;
}

const MAX_CHARACTERS = {
  identifier: IDENTIFIER_MAX_CHARACTERS,
  link: LINK_MAX_CHARACTERS,
  text: TEXT_MAX_CHARACTERS,
} as const;

/** Refuses a NUL or a lone surrogate in any text of a line, also in fields that are ignored. */
function assertStorableTexts(value: unknown): void {
  const pending: unknown[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string" && !isStorable(next)) {
      throw invalidRequestError(
        `A text must have no NUL and no lone surrogate, got ${quote(next)}`,
      );
    }
    if (typeof next === "object" && next !== null) {
      for (const pair of Object.entries(next)) pending.push(...pair);
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalidRequestError(message: string): DomainError {
  return new DomainError("Invalid Request", message);
}

/** A describing field of an entity, and the instant of the observation that it came from. */
export interface Attribute {
  readonly value: FieldValue;
  readonly at: number;
}

/** What describes an entity, by field; a field that no observation gave is absent. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** An entity: the join of its observations. */
export interface Entity {
  readonly attributes: Attributes;
  /** The counts of each instant that it was observed at. */
  readonly points: ReadonlyMap<number, Counts>;
}

/** What an observation did: an instant never observed before, more about a known one, or nothing. */
export type ObservationOutcome = "new" | "changed" | "unchanged";

/** An entity that was never observed. */
export const EMPTY_ENTITY: Entity = { attributes: {}, points: new Map() };

/**
 * Applies one observation to its entity.
 *
 * @returns The next entity, the same one where nothing changed, and what the observation did.
 *
 * @example
 * observations.reduce((entity, next) => applyObservation(entity, next).entity, EMPTY_ENTITY);
 */
export function applyObservation(
  entity: Entity,
  observation: Observation,
): { entity: Entity; outcome: ObservationOutcome } {
  const existingCounts = entity.points.get(observation.observedAt);
  const counts = mergeCounts(existingCounts, observation.counts);
  const attributes = mergeAttributes(entity.attributes, observation);
  if (counts === existingCounts && attributes === entity.attributes) {
    return { entity, outcome: "unchanged" };
  }
  const points = new Map(entity.points).set(observation.observedAt, counts);
  return {
    entity: { attributes, points },
    outcome: existingCounts === undefined ? "new" : "changed",
  };
}

/**
 * Joins the counts of one instant: where both give one, the greater wins.
 *
 * @param existing What was known of that instant, if anything.
 * @returns The joined counts; `known` itself where nothing changed.
 */
export function mergeCounts(existing: Counts | undefined, incoming: Counts): Counts {
  if (existing === undefined) return incoming;
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

/**
 * Joins what describes an entity with what an observation gives: field by field, the newest
 * instant wins, and at one instant the greater value.
 *
 * @returns The joined description; `known` itself where nothing changed.
 */
export function mergeAttributes(
  existing: Attributes,
  { attributes: described, observedAt }: Pick<Observation, "attributes" | "observedAt">,
): Attributes {
  let merged: Record<string, Attribute> | undefined;
  for (const name in described) {
    const value = described[name];
    if (value === undefined) continue;
    const existingAttribute = existing[name];
    if (existingAttribute !== undefined && !isGreater({ value, at: observedAt }, existingAttribute))
      continue;
    merged ??= { ...existing };
    merged[name] = { value, at: observedAt };
  }
  return merged ?? existing;
}

function isGreater(a: Attribute, b: Attribute): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (typeof a.value === "string" && typeof b.value === "string") {
    return compareText(a.value, b.value) > 0;
  }
  return a.value > b.value;
}

/**
 * The present counts of an entity: those of the newest instant it was observed at.
 *
 * @returns `undefined` where it was never observed.
 */
export function findNewestCounts(entity: Entity): { at: number; counts: Counts } | undefined {
  let newest: { at: number; counts: Counts } | undefined;
  for (const [at, counts] of entity.points) {
    if (newest === undefined || at > newest.at) newest = { at, counts };
  }
  return newest;
}
