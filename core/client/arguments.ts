/** Checks the arguments of the client. A `RangeError` names the one that is not allowed. */

/** The error of a value that no request can be sent with. */
export function createRangeError(name: string, value: unknown, allowed: string): RangeError {
  return new RangeError(`${name} must be ${allowed}, got ${describe(value)}`);
}

/** @throws {RangeError} For a value that is not allowed. */
export function assertAllowed(
  name: string,
  value: unknown,
  isAllowed: boolean,
  allowed: string,
): void {
  if (!isAllowed) throw createRangeError(name, value, allowed);
}

/** @throws {RangeError} For a value that is no object. */
export function assertObject(name: string, value: unknown): void {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  assertAllowed(name, value, isObject, "an object");
}

/** Whether a value is text that matches a pattern. */
export const isTextLike = (value: unknown, pattern: RegExp): boolean =>
  typeof value === "string" && pattern.test(value);

/** An object may have no text, so its type is shown. */
function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  const isObject = Object(value) === value;
  return isObject ? `a value of type ${typeof value}` : String(value);
}
