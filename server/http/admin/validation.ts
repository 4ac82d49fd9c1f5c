/** What administration routes share: the JSON body, names, filters, and the pages of lists. */
import { Elysia, t } from "elysia";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS, LIST_LIMIT_RANGE } from "../../../core/limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type GetQueryValues,
} from "../../../core/parameters.ts";
import { isIdentifier } from "../../../core/text.ts";
import { readJsonBody } from "../request-body.ts";
import { getQuery } from "../request-url.ts";

/** Parses the bodies of the routes that are declared after it, with the limits of the public API. */
export const jsonBodyParser = new Elysia({ name: "admin-body" }).onParse(
  { as: "scoped" },
  ({ request }) => readJsonBody(request),
);

/** The schema of a name, label, reference or reason; {@link assertName} checks its characters. */
export const Name = t.String();

/** @throws {DomainError} `Invalid Request`, with the field's name. */
export function assertName(field: string, value: string | undefined): void {
  if (value === undefined || isIdentifier(value)) return;
  throw createInvalidRequestError(
    `${field} must be 1 to ${IDENTIFIER_MAX_CHARACTERS} characters without control characters, ` +
      `got ${quoteValue(value)}`,
  );
}

/** @throws {DomainError} `Invalid Request` if the query repeats the account, or it is no name. */
export function assertSingleAccount(request: Request): void {
  assertName("account", readSingleValue("account", getQuery(request)("account")));
}

/** Parses a parameter that selects by a name; `undefined` without it. */
export function parseNameFilter(name: string, getValues: GetQueryValues): string | undefined {
  const value = readSingleValue(name, getValues(name));
  assertName(name, value);
  return value;
}

/** Parses a parameter that selects by one of some choices; `undefined` without it. */
export function parseChoiceFilter<Choice extends string>(
  name: string,
  getValues: GetQueryValues,
  choices: readonly [Choice, ...Choice[]],
): Choice | undefined {
  if (getValues(name).length === 0) return undefined;
  return parseChoiceParameter(name, getValues, choices, choices[0]);
}

/** Parses `limit`, the most rows of a page. */
export function parsePageLimit(getValues: GetQueryValues): number {
  return parseIntegerParameter("limit", getValues("limit"), LIST_LIMIT_RANGE);
}

/**
 * Cuts a page from rows that were read with one more than its limit.
 *
 * @returns The page, and the cursor of the next one: the id of the last row; `null` if there is none.
 */
export function cutPage<Row extends { readonly id: string | number }>(
  found: readonly Row[],
  limit: number,
): { readonly rows: readonly Row[]; readonly next: string | null } {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : String(last.id) };
}
