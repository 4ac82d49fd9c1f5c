/** Parses requests for batches and comparisons of named entities; creates the results by name. */
import { ENTITY_FIELDS, type CountName, type OwnerKind } from "./kinds.ts";
import { createInvalidRequestError, DomainError, quoteValue, type ErrorCode } from "./errors.ts";
import { parseHistoryRequest, type HistoryRequest } from "./histories.ts";
import {
  BATCH_MAX_NAMES,
  COMPARISON_MAX_NAMES,
  IDENTIFIER_MAX_CHARACTERS,
  type IntegerRange,
} from "./limits.ts";
import { parseChoiceParameter, readSingleValue, type QueryParameters } from "./parameters.ts";
import { isIdentifier } from "./text.ts";

/** The field of a request that has the names of entities, by kind. */
const NAMES_FIELDS = { channel: "channels", user: "usernames" } as const;

/** The query of a comparison: the query of a history, with names and a count. */
export interface ComparisonRequest<Kind extends OwnerKind = OwnerKind> extends HistoryRequest {
  /** The names in the order of the request; a name can be repeated. */
  readonly names: readonly string[];
  /** The count that is compared. */
  readonly count: CountName<Kind>;
  /** The index of `count` among the counts of the kind. */
  readonly countIndex: number;
}

/**
 * Parses the body of a batch: an object with `channels` or `usernames`, by default 1 to 100 names.
 *
 * @param body The parsed JSON.
 * @returns The names in the order of the request; a name can be repeated.
 * @throws {DomainError} `Invalid Request`, with what was wrong and what is allowed.
 *
 * @example
 * parseBatchRequest("channel", { channels: ["nasa", "esa"] }); // ["nasa", "esa"]
 */
export function parseBatchRequest(
  kind: OwnerKind,
  body: unknown,
  maxNames: number = BATCH_MAX_NAMES,
): readonly string[] {
  const field = NAMES_FIELDS[kind];
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw createInvalidRequestError(
      `The body must be an object with ${field}, got ${quoteValue(body)}`,
    );
  }
  const unknownField = Object.keys(body).find((name) => name !== field);
  if (unknownField !== undefined) {
    throw createInvalidRequestError(
      `The body must have no field but ${field}, got ${quoteValue(unknownField)}`,
    );
  }
  const names: unknown = Reflect.get(body, field);
  if (!Array.isArray(names)) {
    throw createInvalidRequestError(
      `${field} must be a list of 1 to ${maxNames} names, got ${quoteValue(names)}`,
    );
  }
  assertNameCount(field, names.length, maxNames);
  return names.map((name: unknown, index) => parseName(`${field}[${index}]`, name));
}

/**
 * Parses the query of a comparison: `channels` or `usernames` (1 to 10 names, separated by commas),
 * `count`, and the parameters of a history.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param limitError The code of the error for an invalid `limit`, which each API names differently.
 * @param limitRange The allowed `limit`, in buckets; by default the range of this service.
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * const query = new URLSearchParams("channels=nasa,esa&count=viewCount");
 * const request = parseComparisonRequest("channel", query, 0);
 * request.names; // ["nasa", "esa"]
 * request.countIndex; // 2
 */
export function parseComparisonRequest<Kind extends OwnerKind>(
  kind: Kind,
  query: QueryParameters,
  now: number,
  limitError?: ErrorCode,
  limitRange?: IntegerRange,
): ComparisonRequest<Kind> {
  const field = NAMES_FIELDS[kind];
  const text = readSingleValue(field, query);
  if (text === undefined) {
    throw createInvalidRequestError(
      `${field} must be 1 to ${COMPARISON_MAX_NAMES} names, separated by commas, got none`,
    );
  }
  const names = text.split(",");
  assertNameCount(field, names.length, COMPARISON_MAX_NAMES);
  const { counts } = ENTITY_FIELDS[kind];
  const count = parseChoiceParameter<CountName<Kind>>("count", query, counts, counts[0]);
  return {
    ...parseHistoryRequest(query, now, limitError, limitRange),
    names: names.map((name) => parseName(`Each name of ${field}`, name)),
    count,
    countIndex: counts.indexOf(count),
  };
}

function assertNameCount(field: string, count: number, max: number): void {
  if (count >= 1 && count <= max) return;
  throw createInvalidRequestError(`${field} must be 1 to ${max} names, got ${count} names`);
}

function parseName(label: string, name: unknown): string {
  if (typeof name === "string" && isIdentifier(name)) return name;
  throw createInvalidRequestError(
    `${label} must be text of 1 to ${IDENTIFIER_MAX_CHARACTERS} characters ` +
      `without control characters, got ${quoteValue(name)}`,
  );
}

/**
 * Creates the result of each name: the fields of its entity, or the body of a 404 if not found.
 *
 * @param results An entity or an error for each name, in the order of the names.
 * @param create Creates the fields of an entity that was found.
 * @param createError Creates the body of a 404, the same as of a single read.
 *
 * @example
 * const results = [createNotFoundError("user", "nasa")];
 * const [result] = createNamedResults(["nasa"], results, Object, createServiceError);
 * result.error; // { error: "User Not Found", message: "User nasa not found" }
 */
export function createNamedResults<Value, Fields extends object, ErrorBody>(
  names: readonly string[],
  results: readonly (Value | DomainError)[],
  create: (value: Value) => Fields,
  createError: (error: DomainError) => ErrorBody,
): (({ name: string; found: true } & Fields) | { name: string; found: false; error: ErrorBody })[] {
  return results.map((result, index) => {
    // Stryker disable next-line StringLiteral: only the type needs the default.
    const name = names[index] ?? "";
    return result instanceof DomainError
      ? { name, found: false as const, error: createError(result) }
      : { name, found: true as const, ...create(result) };
  });
}
