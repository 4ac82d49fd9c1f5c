/**
 * The errors of the service: their names, HTTP statuses, messages and response bodies. Also checks
 * whole numbers, and formats values for messages.
 */
import type { EntityKind, ItemKind } from "./kinds.ts";
import type { ServiceError, VideoError } from "./resources/generated/types.ts";

/** The HTTP status of each error, by its name. The most general error of a status comes last. */
export const ERROR_STATUSES = {
  "Invalid Pagination Parameters": 400,
  "Invalid Request": 400,
  "Missing API Key": 401,
  "Invalid API Key": 401,
  "Insufficient Credits": 402,
  Forbidden: 403,
  "Channel Not Found": 404,
  "Short Not Found": 404,
  "User Not Found": 404,
  "Tweet Not Found": 404,
  "Creator Not Found": 404,
  "List Not Found": 404,
  "Page Out of Range": 404,
  "Not Found": 404,
  "Method Not Allowed": 405,
  "Creator Already Exists": 409,
  "Creator List Full": 409,
  "List Already Exists": 409,
  "List Limit Reached": 409,
  Conflict: 409,
  "Payload Too Large": 413,
  "Unsupported Media Type": 415,
  "Too Many Requests": 429,
  "Internal Error": 500,
  "Service Unavailable": 503,
} as const;

/** The name of an error, as clients read it in the `error` field. */
export type ErrorCode = keyof typeof ERROR_STATUSES;

/** The errors that `/api/video` names by a sentence, and the pattern of each sentence. */
export const VIDEO_ERROR_SENTENCES: Record<"Channel Not Found" | "Short Not Found", RegExp> = {
  "Channel Not Found": /^Channel [\s\S]+ not found$/,
  "Short Not Found": /^Short [\s\S]+ not found for channel [\s\S]/,
};

/** Whether a text is the name of an error of the service. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_STATUSES, text);
}

/**
 * An error with a name and a message for clients.
 *
 * @example
 * new DomainError("Not Found", "There is no path /x").code; // "Not Found"
 */
export class DomainError extends Error {
  /** The name of the class. */
  override readonly name = "DomainError";
  /** The name of the error. */
  readonly code: ErrorCode;
  /** The balance of the account, in credits; only with `Insufficient Credits`. */
  declare readonly balance?: number;

  /**
   * Creates the error.
   *
   * @param message One sentence: what was sent and what is allowed.
   * @param options The cause, which only operators may see.
   */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A {@link DomainError} with the code `Invalid Request`. */
export function createInvalidRequestError(message: string): DomainError {
  return new DomainError("Invalid Request", message);
}

/** @throws {RangeError} Unless an argument is a whole number from `min` to 2^53 - 1. */
export function assertWholeNumber(name: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw new RangeError(`${name} must be a whole number from ${min}, got ${value}`);
}

/**
 * The error for a request that costs more than the account has. Amounts are credits.
 *
 * @example
 * createInsufficientCreditsError(0, 1).message; // "This request costs 1 credit, the balance is 0"
 */
export function createInsufficientCreditsError(balance: number, cost: number): DomainError {
  const price = `${cost} ${cost === 1 ? "credit" : "credits"}`;
  const message = `This request costs ${price}, the balance is ${balance}`;
  return Object.assign(new DomainError("Insufficient Credits", message), { balance });
}

/** The error for an entity that is not found, by kind. */
const NOT_FOUND: Readonly<
  Record<EntityKind, readonly [ErrorCode, describe: (name: string, id: string) => string]>
> = {
  channel: ["Channel Not Found", (name) => `Channel ${name} not found`],
  short: ["Short Not Found", (name, id) => `Short ${id} not found for channel ${name}`],
  user: ["User Not Found", (name) => `User ${name} not found`],
  tweet: ["Tweet Not Found", (name, id) => `Tweet ${id} of user ${name} not found`],
};

/**
 * The error for an unknown channel or user, or for a short or tweet that they do not have.
 *
 * @param name The channel or user, as the request has it.
 * @param id The identifier of the short or tweet.
 *
 * @example
 * createNotFoundError("channel", "nasa").message; // "Channel nasa not found"
 * createNotFoundError("short", "nasa", "s1").message; // "Short s1 not found for channel nasa"
 */
export function createNotFoundError(kind: EntityKind, name: string, id = ""): DomainError {
  const [code, describe] = NOT_FOUND[kind];
  return new DomainError(code, describe(name, id));
}

/**
 * The error for a short or tweet that no one has.
 *
 * @example
 * createItemNotFoundError("tweet", "7").message; // "Tweet 7 not found"
 */
export function createItemNotFoundError(kind: ItemKind, id: string): DomainError {
  const [code] = NOT_FOUND[kind];
  return new DomainError(code, `${kind === "short" ? "Short" : "Tweet"} ${id} not found`);
}

/**
 * Creates the body of an error of the video interface: only the message if a channel or a short is
 * not found, the name and the message if the request is invalid, else only the name.
 *
 * @example
 * createVideoError(createNotFoundError("channel", "nasa")); // { error: "Channel nasa not found" }
 */
export function createVideoError(error: Pick<DomainError, "code" | "message">): VideoError {
  const { code, message } = error;
  if (code in VIDEO_ERROR_SENTENCES) return { error: message };
  return { error: ERROR_STATUSES[code] === 400 ? `${code}: ${message}` : code };
}

/**
 * Creates the body of an error of every other interface.
 *
 * @example
 * createServiceError({ code: "Not Found", message: "There is no path /x" });
 * // { error: "Not Found", message: "There is no path /x" }
 */
export function createServiceError(error: Pick<DomainError, "code" | "message">): ServiceError {
  return { error: error.code, message: error.message };
}

/** Characters that JSON leaves as they are but a terminal obeys or hides: C1, direction marks. */
const UNSAFE_CHARACTERS = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Formats a value for messages: as JSON or its type, cut to 80 characters, safe for a terminal. */
export function quoteValue(value: unknown): string {
  // 80 characters are at most 160 units.
  // Stryker disable next-line MethodExpression: without the cut it is only slower.
  const text = stringifyValue(value).slice(0, 200);
  const characters = Array.from(text.replace(UNSAFE_CHARACTERS, escapeCodeUnit));
  return characters.length > 80 ? `${characters.slice(0, 80).join("")}…` : characters.join("");
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function stringifyValue(value: unknown): string {
  if (typeof value === "number") return String(value); // JSON writes Infinity as null
  let valueCount = 0;
  // Values after the hundredth would be cut anyway, and may be nested too deep for the stack.
  // Stryker disable next-line EqualityOperator: about a hundred.
  const replacer = (_key: string, inner: unknown) => (valueCount++ < 100 ? inner : undefined);
  try {
    const text: unknown = JSON.stringify(value, replacer);
    return typeof text === "string" ? text : String(value);
  } catch {
    // A cycle, a BigInt.
    return `a value of type ${typeof value}`;
  }
}
