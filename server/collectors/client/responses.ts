/** Parses the parts that responses of all sources share: items, statuses, limits and counts. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { parseInteger } from "../../../core/parameters.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../../core/time.ts";
import { SourceError, type Classification, type SourceResponse } from "../collector.ts";

/** An optional field of any type: the check of the observation says what it must be. */
export const Unchecked = Type.Optional(Type.Unknown());

/** An optional object with such fields. */
export const UncheckedFields = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

/** The valid items of a list, and the error of the first invalid one. */
export interface ParsedItems<Item> {
  readonly items: readonly Item[];
  readonly warning: string | undefined;
}

/**
 * Returns the valid items of a list, so that one malformed item does not hide the others.
 *
 * @param title The name of the source in messages.
 * @throws {SourceError} `failed`: there are several, and none is valid.
 */
export function parseItems<Schema extends TSchema>(
  title: string,
  schema: Schema,
  values: readonly unknown[],
): ParsedItems<Static<Schema>> {
  const items: Static<Schema>[] = [];
  let warning: string | undefined;
  for (const value of values) {
    if (Value.Check(schema, value)) items.push(value);
    else warning ??= `${title} returned a malformed item ${describeSchemaError(schema, value)}`;
  }
  if (warning !== undefined && items.length === 0 && values.length > 1) {
    throw new SourceError("failed", warning);
  }
  return { items, warning };
}

/** Describes where a value breaks a schema: the path, the expected value and the actual one. */
export function describeSchemaError(schema: TSchema, value: unknown): string {
  const { path = "", message = "", value: got } = Value.Errors(schema, value).First() ?? {};
  const wanted = `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return `at ${path || "/"}: ${wanted}, got ${got === undefined ? "nothing" : quoteValue(got)}`;
}

/** Joins the messages that a response has; empty if it has none. */
export function joinMessages(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(": ");
}

/**
 * Classifies a response by its status alone. A 404 is `rejected`: a wrong base URL gives one too, so
 * only a platform's own error says that something does not exist.
 *
 * @param title The name of the source in messages.
 * @param now Milliseconds since 1970 UTC.
 * @param description The error that the response describes; empty if it describes none.
 */
export function classifyStatus(
  title: string,
  { status, headers }: SourceResponse,
  now: number,
  description = "",
): Classification {
  if (status >= 200 && status <= 299) return { kind: "ok" };
  const suffix = description === "" ? "" : `: ${quoteValue(description)}`;
  const reason = `${title} answered with status ${status}${suffix}`;
  const until = status === 429 || status === 503 ? parseRetryAfter(headers, now) : undefined;
  if (until !== undefined) return createRateLimited(`${reason}; no requests are sent`, until);
  const isTransient = status === 408 || status === 429 || status >= 500;
  return { kind: isTransient ? "transient" : "rejected", reason };
}

/**
 * Reads `Retry-After`, in seconds or as a date.
 *
 * @returns Milliseconds since 1970 UTC, a day ahead at most; `undefined` for an invalid or past one.
 */
function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const seconds = parseInteger(text);
  // An HTTP date always ends with its zone.
  const date = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  const at = seconds === undefined ? date : now + seconds * 1000;
  return at > now ? Math.min(at, now + DAY_MS) : undefined;
}

/**
 * Reads when a used up rate limit window ends, from two headers.
 *
 * @param prefix Of `-remaining`, and of `-reset` in Unix seconds.
 * @param windowMs Used for a window whose end is missing or past.
 * @returns Milliseconds since 1970 UTC, a day ahead at most; `undefined` if requests are left.
 */
export function parseWindowReset(
  headers: Headers,
  prefix: string,
  windowMs: number,
  now: number,
): number | undefined {
  if (headers.get(`${prefix}-remaining`) !== "0") return undefined;
  const seconds = parseInteger(headers.get(`${prefix}-reset`) ?? "");
  if (seconds === undefined || seconds * 1000 <= now) return now + windowMs;
  return Math.min(seconds * 1000, now + DAY_MS);
}

/** @param reason Ends without a period; the instant is appended. */
export function createRateLimited(reason: string, until: number): Classification {
  return { kind: "rate-limited", until, reason: `${reason} until ${formatInstant(until)}` };
}

/**
 * Reads a count that is text. Anything but a whole number is returned unchanged: the check of the
 * observation rejects it with a reason.
 *
 * @returns `null` for a missing count.
 *
 * @example
 * parseCount("338"); // 338
 * parseCount("338K"); // "338K"
 */
export function parseCount(value: unknown): unknown {
  return typeof value === "string" ? (parseInteger(value) ?? value) : (value ?? null);
}

/** Reads an instant; `undefined` for an invalid one. */
export function readInstant(value: unknown): number | undefined {
  return typeof value === "string" ? parseInstant(value) : undefined;
}
