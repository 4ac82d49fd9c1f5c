/** What the answers of all sources have in common. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quote } from "../../core/errors.ts";
import { parseWhole } from "../../core/parameters.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../core/time.ts";
import { SourceFailure, type Judgement, type RawAnswer, type Source } from "./port.ts";

/** The sources as they are written. */
export const SOURCE_NAMES: Readonly<Record<Source, string>> = {
  youtube: "YouTube",
  x: "X",
  bluesky: "Bluesky",
};

/** What may be told or not; where it is told, the check of the observation says what it must be. */
export const Told = Type.Optional(Type.Unknown());

/** What is told of several things: those that can be believed, and why another one cannot be. */
export interface Believed<Item> {
  readonly items: readonly Item[];
  readonly doubt: string | undefined;
}

/**
 * Takes out of a list what is as it must be, so that one malformed thing does not hide the others.
 *
 * @throws {SourceFailure} `failed`: there are several, and none can be believed.
 */
export function believe<Schema extends TSchema>(
  source: Source,
  schema: Schema,
  values: readonly unknown[],
): Believed<Static<Schema>> {
  const items: Static<Schema>[] = [];
  let doubt: string | undefined;
  for (const value of values) {
    if (Value.Check(schema, value)) items.push(value);
    else doubt ??= `${SOURCE_NAMES[source]} told of something wrongly ${faultOf(schema, value)}`;
  }
  if (doubt !== undefined && items.length === 0 && values.length > 1) {
    throw new SourceFailure("failed", doubt);
  }
  return { items, doubt };
}

/** Where a value is not as it must be, what it must be there, and what it is. */
export function faultOf(schema: TSchema, value: unknown): string {
  const { path = "", message = "", value: got } = Value.Errors(schema, value).First() ?? {};
  const wanted = `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return `at ${path || "/"}: ${wanted}, got ${got === undefined ? "nothing" : quote(got)}`;
}

/** What an answer says of itself, of the texts that it has; empty where it has none. */
export function saidBy(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(": ");
}

/**
 * What a status says where the answer itself says nothing more exact. That something is not there
 * is only believed where the platform says so in its own words: a wrong address says 404 as well.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param told What the answer says of itself, if anything.
 */
export function judgeStatus(
  source: Source,
  { status, headers }: RawAnswer,
  now: number,
  told?: string,
): Judgement {
  if (status >= 200 && status <= 299) return { kind: "answer" };
  const said = told === undefined ? "" : `: ${told}`;
  const reason = `${SOURCE_NAMES[source]} answered with status ${status}${said}`;
  const until = status === 429 || status === 503 ? retryAt(headers, now) : undefined;
  if (until !== undefined) return waitUntil(`${reason}; it is asked nothing`, until);
  const canPass = status === 408 || status === 429 || status >= 500;
  return { kind: canPass ? "passing" : "refused", reason };
}

/**
 * When a source wants to be asked again: `Retry-After`, in seconds or as a date.
 *
 * @returns Milliseconds since 1970 UTC, within a day; `undefined` where it does not tell, or the
 * instant has passed.
 */
function retryAt(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const seconds = parseWhole(text);
  // A date of HTTP always names its zone, which is this one.
  const date = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  const at = seconds === undefined ? date : now + seconds * 1000;
  return at > now ? Math.min(at, now + DAY_MS) : undefined;
}

/** Where a source tells in its headers how much it lets itself be asked. */
export interface WindowHeaders {
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
export function windowEnd(
  headers: Headers,
  { remaining, reset }: WindowHeaders,
  windowMs: number,
  now: number,
): number | undefined {
  if (headers.get(remaining) !== "0") return undefined;
  const seconds = parseWhole(headers.get(reset) ?? "");
  if (seconds === undefined || seconds * 1000 <= now) return now + windowMs;
  return Math.min(seconds * 1000, now + DAY_MS);
}

/** A pause of a bucket. @param why A sentence, without its full stop. */
export function waitUntil(why: string, until: number): Judgement {
  return { kind: "wait", until, reason: `${why} until ${formatInstant(until)}` };
}

/**
 * Reads a count that comes as text. What is no whole number is given as it came: the check of the
 * observation refuses it and says why.
 *
 * @returns `null` where none came.
 *
 * @example
 * countOf("338"); // 338
 * countOf("338K"); // "338K"
 */
export function countOf(value: unknown): unknown {
  return typeof value === "string" ? (parseWhole(value) ?? value) : (value ?? null);
}

/** Reads an instant; `undefined` where it is none. */
export function instantOf(value: unknown): number | undefined {
  return typeof value === "string" ? parseInstant(value) : undefined;
}
