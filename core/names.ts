/** Parses names in requests: of channels and users, and of saved lists that have such names. */
import { createInvalidRequestError, quoteValue } from "./errors.ts";
import { IDENTIFIER_MAX_CHARACTERS, LIST_NAME_MAX_CHARACTERS } from "./limits.ts";
import { readSingleValue, type QueryParameters } from "./parameters.ts";
import { isIdentifier } from "./text.ts";

/** The entities that a request names, or the saved list that has their names. */
export interface NamesRequest {
  /** In the order of the request; a name can be repeated. With a `list`, empty until they are read. */
  readonly names: readonly string[];
  /** The name of a saved list that has the names. */
  readonly list?: string;
}

/**
 * Parses the name of a channel or user.
 *
 * @param label What the message calls the name.
 * @throws {DomainError} `Invalid Request`.
 */
export function parseName(label: string, name: unknown): string {
  if (typeof name === "string" && isIdentifier(name)) return name;
  throw createInvalidRequestError(
    `${label} must be text of 1 to ${IDENTIFIER_MAX_CHARACTERS} characters ` +
      `without control characters, got ${quoteValue(name)}`,
  );
}

/**
 * Parses the name of a saved list. A URL cannot have a segment `.` or `..`, so no list has such a
 * name.
 *
 * @param label What the message calls the name.
 * @throws {DomainError} `Invalid Request`.
 *
 * @example
 * parseListName("Rivals"); // "Rivals"
 */
export function parseListName(name: unknown, label = "list"): string {
  if (
    typeof name === "string" &&
    isIdentifier(name, LIST_NAME_MAX_CHARACTERS) &&
    name.trim() === name &&
    !/^\.{1,2}$/.test(name)
  ) {
    return name;
  }
  throw createInvalidRequestError(
    `${label} must be a name of 1 to ${LIST_NAME_MAX_CHARACTERS} characters without control ` +
      `characters, without spaces at its ends, and not . or .., got ${quoteValue(name)}`,
  );
}

/** Parses the parameter `list`, the name of a saved list; `undefined` if it is not given. */
export function parseListParameter(query: QueryParameters): string | undefined {
  const name = readSingleValue("list", query);
  return name === undefined ? undefined : parseListName(name);
}

/** @throws {DomainError} `Invalid Request` unless there is a name, and at most `max` of them. */
export function assertNameCount(field: string, count: number, max: number): void {
  if (count >= 1 && count <= max) return;
  throw createInvalidRequestError(`${field} must be 1 to ${max} names, got ${count} names`);
}

/** A request that can name a saved list, whose names are set once they are read. */
export type ListedRequest = Partial<NamesRequest>;

/**
 * Sets the names of a request to those that its saved list has.
 *
 * @param names The channels or the users of the list, as the request needs.
 * @param max The most names that the request takes, which then needs one; by default any number.
 * @throws {DomainError} `Invalid Request` if the list has no name that is needed, or too many.
 *
 * @example
 * setListNames({ names: [], list: "Rivals" }, ["nasa"], 10).names; // ["nasa"]
 */
export function setListNames<Request extends ListedRequest>(
  request: Request,
  names: readonly string[],
  max?: number,
): Request {
  if (max !== undefined) assertNameCount(`The list ${request.list}`, names.length, max);
  return { ...request, names };
}
