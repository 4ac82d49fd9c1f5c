/** Parses requests for batches and comparisons of named entities; creates the results by name. */
import { ENTITY_FIELDS, type CountName, type EntityKind, type OwnerKind } from "./kinds.ts";
import { createInvalidRequestError, DomainError, quoteValue, type ErrorCode } from "./errors.ts";
import { parseHistoryRequest, type HistoryRequest } from "./histories.ts";
import {
  BATCH_MAX_NAMES,
  COMPARISON_MAX_NAMES,
  NAMES_MAX_CHARACTERS,
  type IntegerRange,
} from "./limits.ts";
import {
  assertNameCount,
  parseListName,
  parseListParameter,
  parseName,
  type NamesRequest,
} from "./names.ts";
import { parseChoiceParameter, readSingleValue, type QueryParameters } from "./parameters.ts";

/** The field of a request that has the names of owners or the identifiers of items, by kind. */
const NAMES_FIELDS = {
  channel: "channels",
  short: "ids",
  user: "usernames",
  tweet: "ids",
} as const;

/** The query of a comparison: the query of a history, with names and a count. */
export interface ComparisonRequest<Kind extends OwnerKind = OwnerKind>
  extends HistoryRequest, NamesRequest {
  /** The count that is compared. */
  readonly count: CountName<Kind>;
  /** The index of `count` among the counts of the kind. */
  readonly countIndex: number;
}

/**
 * Parses the body of a batch: an object with `channels`, `usernames` or `ids`, by default 1 to 100;
 * of channels and users also with the name of a saved `list`.
 *
 * @param body The parsed JSON.
 * @throws {DomainError} `Invalid Request`, with what was wrong and what is allowed.
 *
 * @example
 * parseBatchRequest("channel", { channels: ["nasa", "esa"] }); // { names: ["nasa", "esa"] }
 * parseBatchRequest("user", { list: "Rivals" }); // { names: [], list: "Rivals" }
 */
export function parseBatchRequest(
  kind: EntityKind,
  body: unknown,
  maxNames: number = BATCH_MAX_NAMES,
): NamesRequest {
  const field = NAMES_FIELDS[kind];
  // A saved list has no items.
  const allowed = field === "ids" ? [field] : [field, "list"];
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw createInvalidRequestError(
      `The body must be an object with ${allowed.join(" or ")}, got ${quoteValue(body)}`,
    );
  }
  const fields = Object.keys(body);
  const unknownField = fields.find((name) => !allowed.includes(name));
  if (unknownField !== undefined) {
    throw createInvalidRequestError(
      `The body must have no field but ${allowed.join(" or ")}, got ${quoteValue(unknownField)}`,
    );
  }
  if (fields.length > 1) {
    throw createInvalidRequestError(`The body must have either ${field} or list, got both`);
  }
  if (fields[0] === "list") return { names: [], list: parseListName(Reflect.get(body, "list")) };
  const names: unknown = Reflect.get(body, field);
  if (!Array.isArray(names)) {
    throw createInvalidRequestError(
      `${field} must be a list of 1 to ${maxNames} names, got ${quoteValue(names)}`,
    );
  }
  assertNameCount(field, names.length, maxNames);
  return { names: names.map((name: unknown, index) => parseName(`${field}[${index}]`, name)) };
}

/**
 * Parses the query of a comparison: `channels` or `usernames` (1 to 10 names, separated by commas)
 * or the name of a saved `list`, `count`, and the parameters of a history.
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
  const named = parseComparedNames(kind, query);
  const { counts } = ENTITY_FIELDS[kind];
  const count = parseChoiceParameter<CountName<Kind>>("count", query, counts, counts[0]);
  return {
    ...parseHistoryRequest(query, now, limitError, limitRange),
    ...named,
    count,
    countIndex: counts.indexOf(count),
  };
}

function parseComparedNames(kind: OwnerKind, query: QueryParameters): NamesRequest {
  const field = NAMES_FIELDS[kind];
  const list = parseListParameter(query);
  if (list !== undefined) {
    if (query.getAll(field).length === 0) return { names: [], list };
    throw createInvalidRequestError(`The query must have either ${field} or list, got both`);
  }
  const names = parseNames(kind, query, COMPARISON_MAX_NAMES);
  if (names === undefined) {
    throw createInvalidRequestError(
      `${field} must be 1 to ${COMPARISON_MAX_NAMES} names, separated by commas, got none`,
    );
  }
  return { names };
}

/**
 * Parses `channels`, `usernames` or `ids`: by default 1 to 100 names, separated by commas.
 *
 * @returns `undefined` if it is not given.
 * @throws {DomainError} `Invalid Request`, with what was wrong and what is allowed.
 *
 * @example
 * parseNames("user", new URLSearchParams("usernames=nasa,esa")); // ["nasa", "esa"]
 */
export function parseNames(
  kind: EntityKind,
  query: QueryParameters,
  maxNames: number = BATCH_MAX_NAMES,
): readonly string[] | undefined {
  const field = NAMES_FIELDS[kind];
  const text = readSingleValue(field, query);
  if (text === undefined) return undefined;
  if (text.length > NAMES_MAX_CHARACTERS) {
    throw createInvalidRequestError(
      `${field} must have at most ${NAMES_MAX_CHARACTERS} characters, got ${text.length}`,
    );
  }
  const names = text.split(",");
  assertNameCount(field, names.length, maxNames);
  return names.map((name) => parseName(`Each name of ${field}`, name));
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

/**
 * Creates the result of each identifier: the fields of its item, or the body of a 404.
 *
 * @param results An item or an error for each identifier, in the order of the identifiers.
 * @param create Creates the fields of an item that was found.
 * @param createError Creates the body of a 404.
 *
 * @example
 * const results = [createItemNotFoundError("tweet", "7")];
 * createItemResults(["7"], results, Object, createServiceError)[0].found; // false
 */
export function createItemResults<Value, Fields extends object, ErrorBody>(
  ids: readonly string[],
  results: readonly (Value | DomainError)[],
  create: (value: Value) => Fields,
  createError: (error: DomainError) => ErrorBody,
): (({ id: string; found: true } & Fields) | { id: string; found: false; error: ErrorBody })[] {
  return createNamedResults(ids, results, create, createError).map(({ name, ...result }) =>
    // The fields are the same, but for the name of the first.
    Object.assign({ id: name }, result),
  );
}
