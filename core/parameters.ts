/** Parses query parameters: text to numbers within their limits. */
import { DomainError, quote, type ErrorCode } from "./errors.ts";
import type { IntegerRange } from "./limits.ts";

/** Returns all values of a query parameter, in order. */
export type GetQueryValues = (name: string) => readonly string[];

/**
 * Parses a whole number from 0 to 2^53 - 1 in plain decimal digits.
 *
 * @returns `undefined` for any other text (`1e1`, `0x5`, `+3`, ` 3`, `3.0`, `03`).
 *
 * @example
 * parseInteger("20"); // 20
 */
export function parseInteger(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

/**
 * Parses an optional parameter that is a whole number within a range.
 *
 * @param name The name of the parameter, for the message.
 * @param values All its values; none means the default of the range.
 * @param code The code of the error: the interfaces name it differently.
 * @throws {DomainError} If it is repeated, no whole number, or out of range.
 *
 * @example
 * parseIntegerParameter("limit", ["5"], { min: 1, max: 100, default: 20 }); // 5
 */
export function parseIntegerParameter(
  name: string,
  values: readonly string[],
  range: IntegerRange,
  code: ErrorCode = "Invalid Request",
): number {
  const text = readSingleValue(name, values, code);
  if (text === undefined) return range.default;
  const number = parseInteger(text);
  if (number === undefined || number < range.min || number > range.max) {
    const allowed = `a whole number from ${range.min} to ${range.max}`;
    throw new DomainError(code, `${name} must be ${allowed}, got ${quote(text)}`);
  }
  return number;
}

/**
 * Returns the value of an optional parameter.
 *
 * @throws {DomainError} With the given code, if the parameter is repeated.
 */
export function readSingleValue(
  name: string,
  values: readonly string[],
  code: ErrorCode = "Invalid Request",
): string | undefined {
  if (values.length > 1) {
    throw new DomainError(code, `${name} must be given once, got ${quote(values)}`);
  }
  return values[0];
}
