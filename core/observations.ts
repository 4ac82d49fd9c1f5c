/**
 * Observations: what a source saw of one entity at one instant. All data comes in as these.
 *
 * The state of an entity is a function of the set of its observations, whatever order they came
 * in and however often. Each describing field is the greatest pair of instant and value that was
 * given; the counts of an instant are the greatest that were given for it. Both are joins, so
 * applying them commutes, associates and repeats without effect.
 */
import { DomainError, quote } from "./errors.ts";
import { KIND_NAMES, KINDS, type FieldType, type Kind, type KindFields } from "./kinds.ts";
import {
  AHEAD_MAX_MS,
  IDENTIFIER_MAX_CHARACTERS,
  LINK_MAX_CHARACTERS,
  MAX_WHOLE,
  TEXT_MAX_CHARACTERS,
} from "./limits.ts";
import { compareText, foldCase, hasControlCharacter, isLongerThan, isStorable } from "./text.ts";
import { formatInstant, INSTANT_FORMS, parseInstant } from "./time.ts";

/** The value of a describing field; an instant is in milliseconds. */
export type FieldValue = string | number | boolean;

/** The counts of one instant, by name; `null` where the source didn't tell. */
export type Counts = Readonly<Record<string, number | null>>;

/** A checked observation. */
export interface Observation {
  readonly kind: Kind;
  /** Which entity: its identifier; of a user, the username in lower case. */
  readonly entity: string;
  /** Milliseconds since 1970 UTC. */
  readonly observedAt: number;
  /** The describing fields that the source gave. */
  readonly described: Readonly<Record<string, FieldValue>>;
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
 * readObservation('{"kind":"user","observedAt":"2026-11-20","username":"NASA"}', Date.now());
 */
export function readObservation(line: string, now: number): Observation {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid(`The line must be a JSON object, got ${quote(line)}`);
  }
  // Only an escape can hide one of the characters that a store would change, or a line that was
  // not read from UTF-8.
  if (/\\u(?:0000|[dD][89a-fA-F])/.test(line) || !line.isWellFormed()) checkTextsWithin(value);
  return checkObservation(value, now);
}

/**
 * Checks one observation.
 *
 * @param value What a line of observations holds, parsed. Unknown fields are ignored.
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, naming the field, what it was and what is allowed.
 */
export function checkObservation(value: unknown, now: number): Observation {
  if (!isRecord(value)) throw invalid(`An observation must be a JSON object, got ${quote(value)}`);
  const kind = KIND_NAMES.find((name) => name === value["kind"]);
  if (kind === undefined) {
    throw invalid(`kind must be one of ${KIND_NAMES.join(", ")}, got ${quote(value["kind"])}`);
  }
  const fields: KindFields = KINDS[kind];
  const observedAt = checkObservedAt(value["observedAt"], now);
  const identity = checkField(fields.identity, "identifier", value[fields.identity]);
  const described: Record<string, FieldValue> = {};
  for (const [name, type] of DESCRIBED[kind]) {
    const given = value[name];
    if (type !== "identifier" && (given === undefined || given === null)) continue;
    described[name] = checkField(name, type, given);
  }
  const counts: Record<string, number | null> = {};
  for (const name of fields.counts) counts[name] = checkCount(name, value[name]);
  const entity = kind === "user" ? foldCase(String(identity)) : String(identity);
  return { kind, entity, observedAt, described, counts };
}

/** The describing fields of each kind, as they are gone through for every line. */
const DESCRIBED: Readonly<Record<Kind, readonly (readonly [string, FieldType])[]>> = {
  channel: Object.entries(KINDS.channel.described),
  short: Object.entries(KINDS.short.described),
  user: Object.entries(KINDS.user.described),
  tweet: Object.entries(KINDS.tweet.described),
};

function checkObservedAt(given: unknown, now: number): number {
  const observedAt = checkField("observedAt", "instant", given);
  if (typeof observedAt !== "number" || observedAt > now + AHEAD_MAX_MS) {
    throw invalid(
      `observedAt must not be more than 5 minutes ahead of the clock, ${formatInstant(now)}, ` +
        `got ${quote(given)}`,
    );
  }
  return observedAt;
}

function checkCount(name: string, given: unknown): number | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== "number" || !Number.isSafeInteger(given) || given < 0) {
    throw invalid(`${name} must be a whole number from 0 to ${MAX_WHOLE}, got ${quote(given)}`);
  }
  return given + 0; // -0 becomes 0
}

function checkField(name: string, type: FieldType, given: unknown): FieldValue {
  if (type === "boolean") {
    if (typeof given === "boolean") return given;
    throw invalid(`${name} must be true or false, got ${quote(given)}`);
  }
  if (typeof given !== "string") throw invalid(`${name} must be a string, got ${quote(given)}`);
  if (type === "instant") {
    const instant = parseInstant(given);
    if (instant === undefined)
      throw invalid(`${name} must be ${INSTANT_FORMS}, got ${quote(given)}`);
    return instant;
  }
  if (!isStorable(given)) throw invalid(`${name} must have no NUL and no lone surrogate`);
  const max = MAX_CHARACTERS[type];
  if (isLongerThan(given, max)) throw invalid(`${name} must have at most ${max} characters`);
  if (type === "identifier") {
    if (given === "") throw invalid(`${name} must not be empty`);
    if (hasControlCharacter(given)) {
      throw invalid(`${name} must have no control character, got ${quote(given)}`);
    }
  }
  return given;
}

const MAX_CHARACTERS = {
  identifier: IDENTIFIER_MAX_CHARACTERS,
  link: LINK_MAX_CHARACTERS,
  text: TEXT_MAX_CHARACTERS,
} as const;

/** Refuses a NUL or a lone surrogate in any text of a line, also in fields that are ignored. */
function checkTextsWithin(value: unknown): void {
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string" && !isStorable(next)) {
      throw invalid(`A text must have no NUL and no lone surrogate, got ${quote(next)}`);
    }
    if (typeof next === "object" && next !== null) {
      for (const pair of Object.entries(next)) waiting.push(...pair);
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): DomainError {
  return new DomainError("Invalid Request", message);
}

/** A describing field of an entity, and the instant of the observation that it came from. */
export interface DescribedField {
  readonly value: FieldValue;
  readonly at: number;
}

/** What describes an entity, by field; a field that no observation gave is absent. */
export type Description = Readonly<Record<string, DescribedField>>;

/** An entity: the join of its observations. */
export interface Entity {
  readonly description: Description;
  /** The counts of each instant that it was observed at. */
  readonly points: ReadonlyMap<number, Counts>;
}

/** What an observation did: an instant never observed before, more about a known one, or nothing. */
export type Outcome = "new" | "changed" | "unchanged";

/** An entity that was never observed. */
export const UNOBSERVED: Entity = { description: {}, points: new Map() };

/**
 * Applies one observation to its entity.
 *
 * @returns The next entity, the same one where nothing changed, and what the observation did.
 *
 * @example
 * observations.reduce((entity, next) => applyObservation(entity, next).entity, UNOBSERVED);
 */
export function applyObservation(
  entity: Entity,
  observation: Observation,
): { entity: Entity; outcome: Outcome } {
  const known = entity.points.get(observation.observedAt);
  const counts = mergeCounts(known, observation.counts);
  const description = mergeDescription(entity.description, observation);
  if (counts === known && description === entity.description) {
    return { entity, outcome: "unchanged" };
  }
  const points = new Map(entity.points).set(observation.observedAt, counts);
  return { entity: { description, points }, outcome: known === undefined ? "new" : "changed" };
}

/**
 * Joins the counts of one instant: where both give one, the greater wins.
 *
 * @param known What was known of that instant, if anything.
 * @returns The joined counts; `known` itself where nothing changed.
 */
export function mergeCounts(known: Counts | undefined, given: Counts): Counts {
  if (known === undefined) return given;
  let merged: Record<string, number | null> | undefined;
  for (const name in given) {
    const count = given[name] ?? null;
    const before = known[name] ?? null;
    if (count === null || (before !== null && before >= count)) continue;
    merged ??= { ...known };
    merged[name] = count;
  }
  return merged ?? known;
}

/**
 * Joins what describes an entity with what an observation gives: field by field, the newest
 * instant wins, and at one instant the greater value.
 *
 * @returns The joined description; `known` itself where nothing changed.
 */
export function mergeDescription(
  known: Description,
  { described, observedAt }: Pick<Observation, "described" | "observedAt">,
): Description {
  let merged: Record<string, DescribedField> | undefined;
  for (const name in described) {
    const value = described[name];
    if (value === undefined) continue;
    const before = known[name];
    if (before !== undefined && !isGreater({ value, at: observedAt }, before)) continue;
    merged ??= { ...known };
    merged[name] = { value, at: observedAt };
  }
  return merged ?? known;
}

function isGreater(a: DescribedField, b: DescribedField): boolean {
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
export function presentCounts(entity: Entity): { at: number; counts: Counts } | undefined {
  let newest: { at: number; counts: Counts } | undefined;
  for (const [at, counts] of entity.points) {
    if (newest === undefined || at > newest.at) newest = { at, counts };
  }
  return newest;
}
