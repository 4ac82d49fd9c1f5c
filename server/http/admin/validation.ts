/** Validation that administration routes share: JSON bodies, names, filters, and pages of lists. */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { TypeCompiler, ValueErrorType } from "@sinclair/typebox/compiler";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { LIST_LIMIT_RANGE } from "../../../core/limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "../../../core/parameters.ts";
import { isIdentifier } from "../../../core/text.ts";
import { describeSchemaError } from "../errors.ts";
import { Name } from "../openapi/admin/schemas.ts";
import { readJsonBody } from "../request-body.ts";

/** Hooks of Elysia. */
interface BodyHooks {
  readonly body?: TObject;
  readonly parse?: "none" | ((context: { readonly request: Request }) => Promise<unknown>);
  readonly transform?: (context: { readonly body: unknown }) => void;
}

/**
 * Creates the hooks that check a body. Elysia alone would drop unknown fields: a misspelt `reference`
 * would grant twice, and misspelt `scopes` would allow everything.
 *
 * @param schema Without it, there is no body; unless it is an object, the handler reads the body.
 */
export function createBodyHooks(schema: TSchema | undefined): BodyHooks {
  if (schema === undefined) return {};
  if (!KindGuard.IsObject(schema)) return { parse: "none" };
  const compiled = TypeCompiler.Compile(schema);
  return {
    body: schema,
    /** Parses the body, with the limits of the public API. */
    parse: ({ request }: { readonly request: Request }) => readJsonBody(request),
    /** @throws {DomainError} `Invalid Request`, with the first field that is wrong. */
    transform({ body }: { readonly body: unknown }): void {
      const error = compiled.Errors(body).First();
      if (error === undefined) return;
      if (error.type !== ValueErrorType.ObjectAdditionalProperties) {
        throw createInvalidRequestError(describeSchemaError(error, "body"));
      }
      const known = Object.keys(schema.properties).join(", ");
      const field = quoteValue(error.path.slice(1));
      throw createInvalidRequestError(`The body has only the fields ${known}, got ${field}`);
    },
  };
}

/** @throws {DomainError} `Invalid Request`, with the name of the parameter. */
export function assertName(parameter: string, value: string | undefined): void {
  if (value === undefined || isIdentifier(value)) return;
  throw createInvalidRequestError(
    `${parameter} must be ${Name.description}, got ${quoteValue(value)}`,
  );
}

/** Parses `account`. @throws {DomainError} `Invalid Request` if it is missing or no name. */
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

/** Parses a parameter that has one of some choices; `undefined` without it. */
export function parseChoiceFilter<Choice extends string>(
  name: string,
  query: QueryParameters,
  choices: readonly [Choice, ...Choice[]],
): Choice | undefined {
  if (query.getAll(name).length === 0) return undefined;
  return parseChoiceParameter(name, query, choices, choices[0]);
}

/** Parses `limit`, the most rows of a page. */
export function parsePageLimit(query: QueryParameters): number {
  return parseIntegerParameter("limit", query, LIST_LIMIT_RANGE);
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
