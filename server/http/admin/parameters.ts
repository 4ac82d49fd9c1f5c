/** Parameters of lists of the administration API: their schemas, and how they are parsed. */
import { Type } from "@sinclair/typebox";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS, LIST_LIMIT_RANGE } from "../../../core/limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "../../../core/parameters.ts";
import { isIdentifier } from "../../../core/text.ts";
import { createCursorParameter, createIntegerParameter } from "../endpoints/parameters.ts";
import { Name } from "./resources.ts";

export const AccountParameter = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_MAX_CHARACTERS,
  description: "The name of the account.",
  examples: ["acme"],
});

export const createPageParameters = (rows: string, cursorMaxLength: number) => ({
  limit: createIntegerParameter(LIST_LIMIT_RANGE, `The most ${rows} of a page.`),
  cursor: createCursorParameter(
    cursorMaxLength,
    "`next` of the previous page, which had the same other parameters.",
  ),
});

/** Reads a page of a list. The cursor of the next one is the id of its last row. */
export async function readPage<Row extends { readonly id: string | number }>(
  query: QueryParameters,
  read: (limit: number) => Promise<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const limit = parseIntegerParameter("limit", query, LIST_LIMIT_RANGE);
  const found = await read(limit + 1);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next: last === undefined ? null : String(last.id) };
}

export function assertName(parameter: string, value: string | undefined): void {
  if (value === undefined || isIdentifier(value)) return;
  throw createInvalidRequestError(
    `${parameter} must be ${Name.description}, got ${quoteValue(value)}`,
  );
}

export function parseAccount(query: QueryParameters): string {
  const account = parseNameFilter("account", query);
  if (account === undefined) throw createInvalidRequestError("account is missing");
  return account;
}

/** Parses a parameter that selects by a name; `undefined` without it. */
export function parseNameFilter(name: string, query: QueryParameters): string | undefined {
  const value = readSingleValue(name, query);
  assertName(name, value);
  return value;
}

/** Parses a parameter that selects by one of some choices; `undefined` without it. */
export function parseChoiceFilter<Choice extends string>(
  name: string,
  query: QueryParameters,
  choices: readonly Choice[],
): Choice | undefined {
  const [initial] = choices;
  if (initial === undefined || query.getAll(name).length === 0) return undefined;
  return parseChoiceParameter(name, query, choices, initial);
}
