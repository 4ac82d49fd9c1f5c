/** Query parameters: text as it came in, to numbers within their limits. */
import { DomainError, quote, type ErrorCode } from "./errors.ts";
import type { IntegerRange } from "./limits.ts";

/** Every value that a request gave a parameter, in order. */
export type GetQueryValues = (name: string) => readonly string[];

/**
 * Reads a whole number: `0`, or digits that don't begin with `0`, up to 2^53 - 1.
 *
 * @returns The number, or `undefined` for any other text (`1e1`, `0x5`, `+3`, ` 3`, `3.0`, `03`).
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
 * Reads a parameter that is a whole number within a range and may be left out.
 *
 * @param name The parameter's name, for the message.
 * @param values Every value the request gave it, in order; none means the default.
 * @param range The bounds, both included, and the default.
 * @param code The error to throw: the two interfaces name it differently.
 * @throws {DomainError} The given code, when it is repeated, no whole number or out of range.
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
    throw new DomainError(
      code,
      `${name} must be a whole number from ${range.min} to ${range.max}, got ${quote(text)}`,
    );
  }
  return number;
}

/**
 * Reads a parameter that may be given once or left out.
 *
 * @throws {DomainError} The given code, when it is repeated.
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
