/** Validates administration requests: bodies against their schemas, and shared query parameters. */
import { Type, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { TypeCompiler, ValueErrorType, type ValueError } from "@sinclair/typebox/compiler";
import { createInvalidRequestError, quoteValue } from "../../../core/errors.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../../core/limits.ts";
import {
  parseChoiceParameter,
  readSingleValue,
  type QueryParameters,
} from "../../../core/parameters.ts";
import { isIdentifier } from "../../../core/text.ts";
import { Name } from "./resources.ts";

/**
 * Creates the check of a body, which names the first field that is wrong. Elysia's own check would
 * drop unknown fields: a misspelt `reference` would grant twice, and misspelt `scopes` would allow
 * everything.
 */
export function createBodyCheck<Schema extends TObject>(
  schema: Schema,
): (body: unknown) => asserts body is Static<Schema> {
  const compiled = TypeCompiler.Compile(schema);
  return (body) => {
    const error = compiled.Errors(body).First();
    if (error === undefined) return;
    if (error.type !== ValueErrorType.ObjectAdditionalProperties) {
      throw createInvalidRequestError(describeError(error));
    }
    const known = Object.keys(schema.properties).join(", ");
    const field = quoteValue(error.path.slice(1));
    throw createInvalidRequestError(`The body has only the fields ${known}, got ${field}`);
  };
}

/** Names the wrong value, its place, and what is allowed: values, or a pattern's description. */
function describeError({ path, message, value, schema }: ValueError): string {
  const where = path === "" ? "The body" : path.slice(1).replaceAll("/", ".");
  if (value === undefined) return `${where} is missing`;
  if (Array.isArray(schema["anyOf"])) {
    const allowed = schema["anyOf"].map(describeSchema).join(", or ");
    return `${where} must be ${allowed}, got ${quoteValue(value)}`;
  }
  const { pattern, description } = schema;
  if (pattern === undefined || description === undefined || typeof value !== "string") {
    return `${where}: ${message.toLowerCase()}, got ${quoteValue(value)}`;
  }
  return `${where} must be ${toLowerFirst(description)}, got ${quoteValue(value)}`;
}

function describeSchema({ type, minimum, maximum, description, ...schema }: TSchema): string {
  if (type === "null") return "null";
  if (type === "integer") {
    const from = minimum === undefined ? "" : ` from ${minimum}`;
    return `a whole number${from}${maximum === undefined ? "" : ` to ${maximum}`}`;
  }
  if (description !== undefined) return toLowerFirst(description);
  if ("const" in schema) return quoteValue(schema["const"]);
  if (type === "string") return "a text";
  return type === undefined ? "another type" : `of type ${type}`;
}

const toLowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

export const AccountParameter = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_MAX_CHARACTERS,
  description: "The name of the account.",
  examples: ["acme"],
});

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

export function parseNameFilter(name: string, query: QueryParameters): string | undefined {
  const value = readSingleValue(name, query);
  assertName(name, value);
  return value;
}

export function parseChoiceFilter<Choice extends string>(
  name: string,
  query: QueryParameters,
  choices: readonly Choice[],
): Choice | undefined {
  const [initial] = choices;
  if (initial === undefined || query.getAll(name).length === 0) return undefined;
  return parseChoiceParameter(name, query, choices, initial);
}
