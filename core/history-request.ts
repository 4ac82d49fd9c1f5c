/** The query of a history: its range, its buckets and its page. */
import {
  findBucketEnd,
  findBucketStart,
  HISTORY_INTERVALS,
  type HistoryInterval,
} from "./buckets.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { createInvalidRequestError, quoteValue, type ErrorCode } from "./errors.ts";
import { HISTORY_LIMIT_RANGE, type IntegerRange } from "./limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "./parameters.ts";
import { DAY_MS, FIRST_INSTANT, isInstant, LAST_INSTANT, parseInstantParameter } from "./time.ts";

/** How many days a history goes back without `from`. */
export const HISTORY_DEFAULT_DAYS = 30;

/** The query of a history. All instants are milliseconds since 1970 UTC. */
export interface HistoryRequest {
  /** The first instant. Its bucket is whole. */
  readonly from: number;
  /** The instant after the last one, whose bucket is whole. */
  readonly to: number;
  /** How the points are grouped. */
  readonly interval: HistoryInterval;
  /** The most buckets of a page. */
  readonly limit: number;
  /** The start of the last bucket of the page before. */
  readonly after?: number;
}

/**
 * Parses `from`, `to`, `interval`, `limit` and `cursor`. Without `to`, the history goes to its
 * newest point; without `from`, it starts 30 days before `to` or `now`.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param limitError The code of the error for `limit`: the interfaces name it differently.
 * @param limitRange The sizes of a page, in buckets; of this service by default.
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * const query = new URLSearchParams("from=2026-01-01&interval=week");
 * const request = parseHistoryRequest(query, Date.UTC(2026, 10, 20));
 * request.interval; // "week"
 */
export function parseHistoryRequest(
  query: QueryParameters,
  now: number,
  limitError?: ErrorCode,
  limitRange: IntegerRange = HISTORY_LIMIT_RANGE,
): HistoryRequest {
  const limit = parseIntegerParameter("limit", query, limitRange, limitError);
  const fromText = readSingleValue("from", query);
  const toText = readSingleValue("to", query);
  const to = toText === undefined ? undefined : parseInstantParameter("to", toText);
  const from =
    fromText === undefined
      ? Math.max(FIRST_INSTANT, (to ?? now) - HISTORY_DEFAULT_DAYS * DAY_MS)
      : parseInstantParameter("from", fromText);
  const end = to ?? LAST_INSTANT + 1;
  if (from >= end) {
    throw createInvalidRequestError(
      `from must be before to, got from ${quoteValue(fromText ?? "")} and to ${quoteValue(toText)}`,
    );
  }
  const interval = parseChoiceParameter("interval", query, HISTORY_INTERVALS, "day");
  const cursor = readSingleValue("cursor", query);
  const after = cursor === undefined ? {} : { after: decodeHistoryCursor(cursor, interval) };
  return { from, to: end, interval, limit, ...after };
}

/**
 * Finds the buckets of a page and of all pages after it: those that overlap `from` to `to`, past `after`.
 *
 * @returns Milliseconds since 1970 UTC: the start of the first bucket, and the end of the last one, excluded.
 *
 * @example
 * const request = { from: 5, to: 6, interval: "day", limit: 5 };
 * findBucketRange(request); // { start: 0, end: 86_400_000 }
 */
export function findBucketRange({ from, to, after, interval }: HistoryRequest): {
  readonly start: number;
  readonly end: number;
} {
  const findStart = (at: number) => findBucketStart(at, interval);
  const findEnd = (at: number) => findBucketEnd(findStart(at), interval);
  const first = findStart(Math.max(from, FIRST_INSTANT));
  return {
    start: after === undefined ? first : Math.max(first, findEnd(after)),
    // Nothing is from `from` on and before an earlier `to`.
    end: from < to ? findEnd(Math.min(to - 1, LAST_INSTANT)) : first,
  };
}

/**
 * Encodes the start of the last bucket of a page as a cursor: opaque to clients, safe in a URL.
 *
 * @param start Milliseconds since 1970 UTC, in the years 0 to 9999.
 * @throws {RangeError} For an instant with which no bucket starts.
 *
 * @example
 * encodeHistoryCursor(86_400_000, "day"); // "WyJoaXN0b3J5IiwiZGF5Iiw4NjQwMDAwMF0"
 */
export function encodeHistoryCursor(start: number, interval: HistoryInterval): string {
  if (!isBucketStart(start, interval)) {
    throw new RangeError(`A cursor needs an instant at which a bucket starts, got ${start}`);
  }
  return encodeCursor(["history", interval], start);
}

/** Characters of the longest cursor: of the longest interval, and an instant before 1970. */
export const HISTORY_CURSOR_MAX_CHARACTERS: number = encodeHistoryCursor(
  FIRST_INSTANT,
  "month",
).length;

/** @throws {DomainError} `Invalid Request` for any other text, and for the cursor of another interval. */
export function decodeHistoryCursor(cursor: string, interval: HistoryInterval): number {
  const [start] = decodeCursor(
    cursor,
    ["history", interval],
    (values): values is readonly [number] =>
      typeof values[0] === "number" && isBucketStart(values[0], interval) && values.length === 1,
    `a page of this history, with the same interval (${interval})`,
  );
  return start;
}

function isBucketStart(value: number, interval: HistoryInterval): boolean {
  return isInstant(value) && findBucketStart(value, interval) === value;
}
