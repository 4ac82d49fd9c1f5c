/**
 * What can go wrong in the domain, by name. The domain knows no HTTP: the server keeps the one
 * table from these names to statuses.
 */

/** The names of all errors, as clients read them in the `error` field. */
export const ERROR_CODES = [
  "Invalid Pagination Parameters",
  "Invalid Request",
  "Missing API Key",
  "Invalid API Key",
  "Insufficient Credits",
  "Channel Not Found",
  "Short Not Found",
  "User Not Found",
  "Tweet Not Found",
  "Creator Not Found",
  "Page Out of Range",
  "Not Found",
  "Method Not Allowed",
  "Creator Already Exists",
  "Creator List Full",
  "Conflict",
  "Payload Too Large",
  "Unsupported Media Type",
  "Too Many Requests",
  "Internal Error",
  "Service Unavailable",
] as const;

/** The name of an error. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error that a caller caused or has to know of; its message is meant for them. */
export class DomainError extends Error {
  override readonly name = "DomainError";
  readonly code: ErrorCode;

  /**
   * @param code Which error it is.
   * @param message One sentence: what was got and what is allowed.
   * @param options What caused it, for who may know of it.
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a terminal obeys or hides, though JSON lets it stand: C1 controls, turns of direction. */
const UNSAFE_CHARACTERS = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Writes an offending value for a message: as JSON, cut to 80 characters, in which nothing steers a
 * terminal. It takes every value: what has no JSON is written as JavaScript has it, or by its type.
 *
 * @example
 * quote("3.0"); // '"3.0"'
 */
export function quote(value: unknown): string {
  // 80 characters are at most 160 units.
  const characters = Array.from(
    stringifyValue(value).slice(0, 200).replace(UNSAFE_CHARACTERS, escapeCodeUnit),
  );
  return characters.length > 80 ? `${characters.slice(0, 80).join("")}…` : characters.join("");
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function stringifyValue(value: unknown): string {
  if (typeof value === "number") return String(value); // JSON writes Infinity as null
  let valueCount = 0;
  // What comes past the hundredth value is cut anyway, and could be nested past the stack.
  const replacer = (_key: string, inner: unknown) => (valueCount++ < 100 ? inner : undefined);
  try {
    const truncated = typeof value === "string" ? value.slice(0, 200) : value;
    const text: unknown = JSON.stringify(truncated, replacer);
    return typeof text === "string" ? text : String(value);
  } catch {
    // A cycle, a BigInt.
    return `a value of type ${typeof value}`;
  }
}
