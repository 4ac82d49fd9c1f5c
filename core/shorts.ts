/** The list of a channel's shorts: the query of `/shorts`, the order, the cursors and the pages. */
import { cutPage, decodeCursor, encodeCursor, type CursorPage } from "./cursor.ts";
import { SHORTS_LIMIT_RANGE, type IntegerRange } from "./limits.ts";
import { parseIntegerParameter, readSingleValue, type QueryParameters } from "./parameters.ts";
import { compareText } from "./text.ts";
import { isInstant, parseInstantParameter } from "./time.ts";

/** The position of a short in the listing of its channel. */
export interface ShortPosition {
  /** Milliseconds since 1970 UTC. */
  readonly publishedAt: number;
  /** The identifier of the short. */
  readonly id: string;
}

/** The query of `/shorts`. */
export interface ShortsRequest {
  /** The most shorts of a page. */
  readonly limit: number;
  /** Only shorts published before this instant, in milliseconds since 1970 UTC. */
  readonly before?: number;
  /** Only shorts after this position. */
  readonly after?: ShortPosition;
}

/**
 * Parses `limit`, `before` and `cursor`.
 *
 * @param limitRange The allowed `limit`; by default the range of this service.
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * parseShortsRequest(new URLSearchParams("limit=5")); // { limit: 5 }
 */
export function parseShortsRequest(
  query: QueryParameters,
  limitRange: IntegerRange = SHORTS_LIMIT_RANGE,
): ShortsRequest {
  const limit = parseIntegerParameter("limit", query, limitRange);
  const before = readSingleValue("before", query);
  const cursor = readSingleValue("cursor", query);
  return {
    limit,
    ...(before === undefined ? {} : { before: parseInstantParameter("before", before) }),
    ...(cursor === undefined ? {} : { after: decodeShortsCursor(cursor) }),
  };
}

/** Compares two positions: newest first, then the greater identifier. */
export function compareShortPositions(a: ShortPosition, b: ShortPosition): number {
  return b.publishedAt - a.publishedAt || compareText(b.id, a.id);
}

/** Whether a request selects a short: published before `before` and listed after `after`. */
function isShortSelected(
  short: ShortPosition,
  { before = Infinity, after }: Omit<ShortsRequest, "limit">,
): boolean {
  if (short.publishedAt >= before) return false;
  return after === undefined || compareShortPositions(after, short) < 0;
}

/**
 * Finds the page of a sorted list that a request selects, by binary search.
 *
 * @param sorted Newest first; at one instant, the greater identifier first.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const shorts = [{ publishedAt: 2, id: "b" }, { publishedAt: 1, id: "a" }];
 * pageAfter(shorts, { limit: 5, after: { publishedAt: 2, id: "b" } }).items;
 * // [{ publishedAt: 1, id: "a" }]
 */
export function pageAfter<Short extends ShortPosition>(
  sorted: readonly Short[],
  { limit, ...selection }: ShortsRequest,
): CursorPage<Short> {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const short = sorted[middle];
    // Stryker disable next-line ConditionalExpression: only the type needs it.
    if (short === undefined) break;
    // Shorts that are not selected come first: from `before` on, or up to `after`.
    if (isShortSelected(short, selection)) high = middle;
    else low = middle + 1;
  }
  return cutPage(sorted.slice(low, low + limit + 1), limit, encodeShortsCursor);
}

const LIST = ["shorts"];

function encodeShortsCursor({ publishedAt, id }: ShortPosition): string {
  if (!isInstant(publishedAt)) {
    throw new RangeError(
      `A cursor needs whole milliseconds in the years 0 to 9999, got ${publishedAt}`,
    );
  }
  return encodeCursor(LIST, publishedAt, id);
}

function decodeShortsCursor(cursor: string): ShortPosition {
  const [publishedAt, id] = decodeCursor(cursor, LIST, isShortPosition, "a page of shorts");
  return { publishedAt, id };
}

function isShortPosition(values: readonly unknown[]): values is readonly [number, string] {
  const [publishedAt, id] = values;
  const isNumber = typeof publishedAt === "number" && isInstant(publishedAt);
  return isNumber && typeof id === "string" && values.length === 2;
}
