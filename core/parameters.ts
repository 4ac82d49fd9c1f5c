/** Parses query parameters, none of which may repeat: whole numbers, choices and other values. */
import { createInvalidRequestError, DomainError, quoteValue, type ErrorCode } from "./errors.ts";
import { INTEGER_MAX, type IntegerRange } from "./limits.ts";

/** The query of a request: the part of `URLSearchParams` that parsers use. */
export interface QueryParameters {
  /** Returns all values of a parameter, in order. */
  getAll(name: string): readonly string[];
}

/** Parses a whole number in plain digits; `undefined` for `1e1`, `0x5`, `+3`, ` 3`, `3.0`, `03`. */
export function parseInteger(
  text: string,
  { min = 0, max = INTEGER_MAX }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return undefined;
  const number = Number(text);
  return number >= min && number <= max ? number : undefined;
}

/** Parses an optional whole number within a range. Each interface has its own error code. */
export function parseIntegerParameter(
  name: string,
  query: QueryParameters,
  range: IntegerRange,
  code: ErrorCode = "Invalid Request",
): number {
  const text = readSingleValue(name, query, code);
  if (text === undefined) return range.default;
  const number = parseInteger(text, range);
  if (number === undefined) {
    const allowed = `a whole number from ${range.min} to ${range.max}`;
    throw new DomainError(code, `${name} must be ${allowed}, got ${quoteValue(text)}`);
  }
  return number;
}

/** Parses an optional parameter that is one of some names; `initial` if it is not given. */
export function parseChoiceParameter<Choice extends string>(
  name: string,
  query: QueryParameters,
  choices: readonly Choice[],
  initial: Choice,
): Choice {
  const text = readSingleValue(name, query) ?? initial;
  const choice = choices.find((allowed) => allowed === text);
  if (choice !== undefined) return choice;
  throw createInvalidRequestError(
    `${name} must be one of ${choices.join(", ")}, got ${quoteValue(text)}`,
  );
}

/** Returns the value of an optional parameter, which must not be repeated. */
export function readSingleValue(
  name: string,
  query: QueryParameters,
  code: ErrorCode = "Invalid Request",
): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) {
    throw new DomainError(code, `${name} must be given once, got ${quoteValue(values)}`);
  }
  return values[0];
}
