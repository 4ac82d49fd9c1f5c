/** Reads the parts that all responses share: items, error statuses, limits and counts. */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { quoteValue } from "../../../core/errors.ts";
import { parseInteger } from "../../../core/parameters.ts";
import { DAY_MS, formatInstant, parseInstant } from "../../../core/time.ts";
import { SourceError, type QuotaBucket, type SourceResponse } from "../collector.ts";

/** A field that may have any type here: `parseObservation()` checks its type later. */
export const Unchecked = Type.Optional(Type.Unknown());

export const UncheckedFields = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

/**
 * Returns the valid items of a list, so that a malformed item does not hide them, and a warning
 * about the first malformed item. Throws the warning if no item of several is valid.
 */
export function parseItems<Schema extends TSchema>(
  title: string,
  schema: Schema,
  values: readonly unknown[],
) {
  const isItem = (value: unknown): value is ParsedItem<Schema> => Value.Check(schema, value);
  const items = values.filter(isItem);
  if (items.length === values.length) return { items, warning: undefined };
  const malformed = values.find((value) => !isItem(value));
  const warning = `${title} returned a malformed item ${describeSchemaError(schema, malformed)}`;
  if (items.length === 0 && values.length > 1) throw new SourceError("failed", warning);
  return { items, warning };
}

export type ParsedItem<Schema extends TSchema> = Static<Schema> & Readonly<Record<string, unknown>>;

export function describeSchemaError(schema: TSchema, value: unknown): string {
  const { path = "", message = "", value: got } = Value.Errors(schema, value).First() ?? {};
  const wanted = `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return `at ${path || "/"}: ${wanted}, got ${got === undefined ? "nothing" : quoteValue(got)}`;
}

export const joinMessages = (...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined).join(": ");

/**
 * Reads the error from the status of a response. A 404 is `rejected`: a wrong base URL causes a 404
 * too, so only a platform's own error says that something does not exist.
 */
export function readStatusError(
  title: string,
  { status, headers }: SourceResponse,
  now: number,
  description = "",
): SourceError | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const suffix = description === "" ? "" : `: ${quoteValue(description)}`;
  const reason = `${title} answered with status ${status}${suffix}`;
  const until = status === 429 || status === 503 ? parseRetryAfter(headers, now) : undefined;
  if (until !== undefined) {
    const untilReason = `${reason}; no requests are sent until ${formatInstant(until)}`;
    return new SourceError("rate-limited", untilReason, { until });
  }
  const isTransient = status === 408 || status === 429 || status >= 500;
  return new SourceError(isTransient ? "transient" : "rejected", reason);
}

/** Reads `Retry-After`, seconds or a date, up to a day ahead; `undefined` for a past date. */
function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const seconds = parseInteger(text);
  // An HTTP date always ends with its zone.
  const date = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  const at = seconds === undefined ? date : now + seconds * 1000;
  return at > now ? Math.min(at, now + DAY_MS) : undefined;
}

/**
 * Reads when a used up rate limit window ends, a day ahead at most; `undefined` if requests are
 * left. If the end is missing or past, the window begins now.
 */
export function parseWindowReset(
  headers: Headers,
  { headerPrefix, durationMs }: Omit<NonNullable<QuotaBucket["window"]>, "requests">,
  now: number,
): number | undefined {
  if (headers.get(`${headerPrefix}-remaining`) !== "0") return undefined;
  const seconds = parseInteger(headers.get(`${headerPrefix}-reset`) ?? "");
  if (seconds === undefined || seconds * 1000 <= now) return now + durationMs;
  return Math.min(seconds * 1000, now + DAY_MS);
}

/** Reads a count from text; `null` if absent. The observation's check rejects a malformed count. */
export const parseCount = (value: unknown): unknown =>
  typeof value === "string" ? (parseInteger(value) ?? value) : (value ?? null);

export const readInstant = (value: unknown): number | undefined =>
  typeof value === "string" ? parseInstant(value) : undefined;
