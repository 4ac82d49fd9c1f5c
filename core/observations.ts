/** Parses observations: attributes and counts that a source reported of an entity at an instant. */
import { createInvalidRequestError, DomainError, quoteValue } from "./errors.ts";
import {
  ENTITY_KINDS,
  ENTITY_FIELDS,
  type FieldType,
  type EntityKind,
  type EntityFields,
} from "./kinds.ts";
import {
  CLOCK_SKEW_MAX_MS,
  IDENTIFIER_MAX_CHARACTERS,
  LINK_MAX_CHARACTERS,
  INTEGER_MAX,
  TEXT_MAX_CHARACTERS,
} from "./limits.ts";
import { listRoundedNumbers, ROUNDED_NUMBER_MIN } from "./rounded-numbers.ts";
import { foldCase, hasControlCharacter, isLongerThan, isStorable } from "./text.ts";
import { formatInstant, INSTANT_SYNTAX, parseInstant } from "./time.ts";

/** The value of an attribute; an instant is in milliseconds since 1970 UTC. */
export type FieldValue = string | number | boolean;

/** The counts of one instant, by name; `null` for a count that the source did not report. */
export type Counts = Readonly<Record<string, number | null>>;

/** The attributes and counts that a source reported of an entity at an instant. */
export interface Observation {
  /** The kind of the observed entity. */
  readonly kind: EntityKind;
  /** The identifier of the entity; of a user, the username in lower case. */
  readonly entityId: string;
  /** Milliseconds since 1970 UTC. */
  readonly observedAt: number;
  /** The attributes that the source reported. */
  readonly attributes: Readonly<Record<string, FieldValue>>;
  /** All counts of the kind. */
  readonly counts: Counts;
}

/**
 * Parses one line of observations (NDJSON).
 *
 * @param line Without its line end, at most `OBSERVATION_LINE_MAX_BYTES` bytes.
 * @param now Milliseconds since 1970 UTC. An observation from the future is invalid.
 * @throws {DomainError} `Invalid Request`, with the reason.
 * @throws {RangeError} If `now` is NaN.
 *
 * @example
 * const line = '{"kind":"user","observedAt":"2026-11-20","username":"NASA"}';
 * parseObservationLine(line, Date.UTC(2026, 10, 20)).entityId; // "nasa"
 */
export function parseObservationLine(line: string, now: number): Observation {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw createInvalidRequestError(`The line must be a JSON object, got ${quoteValue(line)}`);
  }
  // A database would change some texts. They are rare: look for escapes and lone surrogates first.
  // Stryker disable next-line ConditionalExpression: without the condition it is only slower.
  if (line.includes("\\u") || !line.isWellFormed()) assertStorableTexts(value);
  return parseObservation(value, now, line);
}

/**
 * Checks one observation.
 *
 * @param value The JSON value of a line. Unknown fields are ignored.
 * @param now Milliseconds since 1970 UTC.
 * @param line The text of the value, if any: it tells which counts `JSON.parse()` has rounded.
 * @throws {DomainError} `Invalid Request`, with the field, its value and what is allowed.
 * @throws {RangeError} If `now` is NaN.
 *
 * @example
 * const value = { kind: "user", observedAt: "2026-11-20", username: "NASA" };
 * parseObservation(value, Date.UTC(2026, 10, 20)).attributes; // { username: "NASA" }
 */
export function parseObservation(value: unknown, now: number, line?: string): Observation {
  if (!isRecord(value)) {
    throw createInvalidRequestError(
      `An observation must be a JSON object, got ${quoteValue(value)}`,
    );
  }
  const kind = ENTITY_KINDS.find((name) => name === value["kind"]);
  if (kind === undefined) {
    throw createFieldError("kind", `be one of ${ENTITY_KINDS.join(", ")}`, value["kind"]);
  }
  const fields: EntityFields = ENTITY_FIELDS[kind];
  const observedAt = parseObservedAt(value["observedAt"], now);
  const id = String(parseField(fields.idField, "identifier", value[fields.idField]));
  const attributes: Record<string, FieldValue> = {};
  for (const name in fields.attributes) {
    const type = fields.attributes[name];
    const rawValue = value[name];
    const isMissing = rawValue === undefined || rawValue === null;
    // Stryker disable next-line ConditionalExpression: only the type needs the first condition.
    if (type === undefined || (isMissing && type !== "identifier")) continue;
    attributes[name] = parseField(name, type, rawValue);
  }
  const counts: Record<string, number | null> = {};
  for (const name of fields.counts) counts[name] = parseCount(name, value[name], line);
  return { kind, entityId: toEntityId(kind, id), observedAt, attributes, counts };
}

/** Returns the identifier of an entity: of a user, the username in lower case. */
export function toEntityId(kind: EntityKind, id: string): string {
  return kind === "user" ? foldCase(id) : id;
}

function parseObservedAt(value: unknown, now: number): number {
  const observedAt = Number(parseField("observedAt", "instant", value));
  if (!isFromFuture(observedAt, now)) return observedAt;
  throw createInvalidRequestError(
    "observedAt must not be more than 5 minutes ahead of the clock, " +
      `got ${quoteValue(value)} at ${formatInstant(now)}`,
  );
}

/** Whether an instant is too far ahead of the clock to be observed, or `now` is NaN. */
export function isFromFuture(instant: number, now: number): boolean {
  return !(instant <= now + CLOCK_SKEW_MAX_MS);
}

function parseCount(name: string, value: unknown, line: string | undefined): number | null {
  if (value === undefined || value === null) return null;
  const count = Number.isSafeInteger(value) ? Number(value) : -1;
  if (count < 0) throw createCountError(name, quoteValue(value));
  if (count >= ROUNDED_NUMBER_MIN && line !== undefined) {
    const rounded = listRoundedNumbers(line).find((text) => Number(text) === count);
    if (rounded !== undefined) throw createCountError(name, rounded.slice(0, 80));
  }
  return count + 0; // -0 becomes 0
}

function createCountError(name: string, got: string): DomainError {
  return createInvalidRequestError(
    `${name} must be a whole number from 0 to ${INTEGER_MAX}, got ${got}`,
  );
}

function parseField(name: string, type: FieldType, value: unknown): FieldValue {
  if (type === "boolean") {
    if (typeof value === "boolean") return value;
    throw createFieldError(name, "be true or false", value);
  }
  if (typeof value !== "string") throw createFieldError(name, "be a string", value);
  if (type === "instant") {
    const instant = parseInstant(value);
    if (instant === undefined) throw createFieldError(name, `be ${INSTANT_SYNTAX}`, value);
    return instant;
  }
  if (!isStorable(value)) {
    throw createInvalidRequestError(`${name} must have no NUL and no lone surrogate`);
  }
  const max = FIELD_MAX_CHARACTERS[type];
  if (isLongerThan(value, max)) {
    throw createInvalidRequestError(`${name} must have at most ${max} characters`);
  }
  if (type === "identifier") {
    if (value === "") throw createInvalidRequestError(`${name} must not be empty`);
    // Parsers of URLs remove these names from a path: no request could name the entity.
    if (value === "." || value === "..") throw createFieldError(name, "not be . or ..", value);
    if (hasControlCharacter(value))
      throw createFieldError(name, "have no control character", value);
  }
  return value;
}

function createFieldError(name: string, rule: string, value: unknown): DomainError {
  return createInvalidRequestError(`${name} must ${rule}, got ${quoteValue(value)}`);
}

const FIELD_MAX_CHARACTERS = {
  identifier: IDENTIFIER_MAX_CHARACTERS,
  link: LINK_MAX_CHARACTERS,
  text: TEXT_MAX_CHARACTERS,
} as const;

/** Rejects a NUL or a lone surrogate in any text of a line, also in ignored fields. */
function assertStorableTexts(value: unknown): void {
  const pending: unknown[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string" && !isStorable(next)) {
      throw createInvalidRequestError(
        `A text must have no NUL and no lone surrogate, got ${quoteValue(next)}`,
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
