/** What the answers of all sources have in common. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quote } from "../../../core/errors.ts";
import { parseInteger } from "../../../core/parameters.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../../core/time.ts";
import {
  SourceError,
  type Classification,
  type SourceResponse,
  type Source,
} from "../collector.ts";

/** The sources as they are written. */
export const SOURCE_NAMES: Readonly<Record<Source, string>> = {
  youtube: "YouTube",
  x: "X",
  bluesky: "Bluesky",
};

/** What may be told or not; where it is told, the check of the observation says what it must be. */
export const Unchecked = Type.Optional(Type.Unknown());

/** What is told of several things: those that can be believed, and why another one cannot be. */
export interface ParsedItems<Item> {
  readonly items: readonly Item[];
  readonly warning: string | undefined;
}

/**
 * Takes out of a list what is as it must be, so that one malformed thing does not hide the others.
 *
 * @throws {SourceError} `failed`: there are several, and none can be believed.
 */
export function parseItems<Schema extends TSchema>(
  source: Source,
  schema: Schema,
  values: readonly unknown[],
): ParsedItems<Static<Schema>> {
  const items: Static<Schema>[] = [];
  let warning: string | undefined;
  for (const value of values) {
    if (Value.Check(schema, value)) items.push(value);
    else
      warning ??= `${SOURCE_NAMES[source]} told of something wrongly ${describeSchemaError(schema, value)}`;
  }
  if (warning !== undefined && items.length === 0 && values.length > 1) {
    throw new SourceError("failed", warning);
  }
  return { items, warning };
}

/** Where a value is not as it must be, what it must be there, and what it is. */
export function describeSchemaError(schema: TSchema, value: unknown): string {
  const { path = "", message = "", value: got } = Value.Errors(schema, value).First() ?? {};
  const wanted = `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return `at ${path || "/"}: ${wanted}, got ${got === undefined ? "nothing" : quote(got)}`;
}

/** What an answer says of itself, of the texts that it has; empty where it has none. */
export function joinMessages(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(": ");
}

/**
 * What a status says where the answer itself says nothing more exact. That something is not there
 * is only believed where the platform says so in its own words: a wrong address says 404 as well.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param description What the answer says of itself, if anything.
 */
export function classifyStatus(
  source: Source,
  { status, headers }: SourceResponse,
  now: number,
  description?: string,
): Classification {
  if (status >= 200 && status <= 299) return { kind: "answer" };
  const suffix = description === undefined ? "" : `: ${description}`;
  const reason = `${SOURCE_NAMES[source]} answered with status ${status}${suffix}`;
  const until = status === 429 || status === 503 ? parseRetryAfter(headers, now) : undefined;
  if (until !== undefined) return classifyAsWait(`${reason}; it is asked nothing`, until);
  const isTransient = status === 408 || status === 429 || status >= 500;
  return { kind: isTransient ? "passing" : "refused", reason };
}

/**
 * When a source wants to be asked again: `Retry-After`, in seconds or as a date.
 *
 * @returns Milliseconds since 1970 UTC, within a day; `undefined` where it does not tell, or the
 * instant has passed.
 */
function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const seconds = parseInteger(text);
  // A date of HTTP always names its zone, which is this one.
  const date = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  const at = seconds === undefined ? date : now + seconds * 1000;
  return at > now ? Math.min(at, now + DAY_MS) : undefined;
}

/** Where a source tells in its headers how much it lets itself be asked. */
export interface RateLimitHeaders {
  readonly remaining: string;
  /** Unix seconds. */
  readonly reset: string;
}

/**
 * When a window that is used up ends.
 *
 * @param windowMs How long it is; a window without an end that can be read ends after that.
 * @returns Milliseconds since 1970 UTC, within a day; `undefined` where there is something left of
 * it.
 */
export function parseWindowReset(
  headers: Headers,
  { remaining, reset }: RateLimitHeaders,
  windowMs: number,
  now: number,
): number | undefined {
  if (headers.get(remaining) !== "0") return undefined;
  const seconds = parseInteger(headers.get(reset) ?? "");
  if (seconds === undefined || seconds * 1000 <= now) return now + windowMs;
  return Math.min(seconds * 1000, now + DAY_MS);
}

/** A pause of a bucket. @param reason A sentence, without its full stop. */
export function classifyAsWait(reason: string, until: number): Classification {
  return { kind: "wait", until, reason: `${reason} until ${formatInstant(until)}` };
}

/**
 * Reads a count that comes as text. What is no whole number is given as it came: the check of the
 * observation refuses it and says why.
 *
 * @returns `null` where none came.
 *
 * @example
 * countCharged("338"); // 338
 * countCharged("338K"); // "338K"
 */
export function parseCount(value: unknown): unknown {
  return typeof value === "string" ? (parseInteger(value) ?? value) : (value ?? null);
}

/** Reads an instant; `undefined` where it is none. */
export function readInstant(value: unknown): number | undefined {
  return typeof value === "string" ? parseInstant(value) : undefined;
}
