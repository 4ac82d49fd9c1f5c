/**
 * Cursor pagination: the request of `/shorts`, and the cut of pages of all lists. A cursor is the
 * position of the last item of a page, so the next page starts right after it, even if items were
 * published in between.
 */
import { decodePosition, encodePosition } from "./cursor-text.ts";
import { assertWholeNumber, createInvalidRequestError, quoteValue } from "./errors.ts";
import { SHORTS_LIMIT_RANGE, type IntegerRange } from "./limits.ts";
import { readSingleValue, parseIntegerParameter, type QueryParameters } from "./parameters.ts";
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
 * @param limitRange The sizes of a page; of this service by default.
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

/**
 * Compares two positions: newest first, then the greater identifier.
 *
 * @example
 * compareShortPositions({ publishedAt: 2, id: "a" }, { publishedAt: 1, id: "b" }); // -1
 */
export function compareShortPositions(a: ShortPosition, b: ShortPosition): number {
  return b.publishedAt - a.publishedAt || compareText(b.id, a.id);
}

/**
 * Whether a request selects a short: published before `before` and listed after `after`.
 *
 * @example
 * isShortSelected({ publishedAt: 5, id: "a" }, { before: 5 }); // false
 */
export function isShortSelected(
  short: ShortPosition,
  { before = Infinity, after }: Omit<ShortsRequest, "limit">,
): boolean {
  if (short.publishedAt >= before) return false;
  return after === undefined || compareShortPositions(after, short) < 0;
}

/** A page of a list that continues at a cursor. */
export interface CursorPage<Item> {
  /** The items of the page. */
  readonly items: readonly Item[];
  /** Whether a page follows. */
  readonly hasMore: boolean;
  /** The cursor of the next page; `null` if there is none. */
  readonly nextCursor: string | null;
}

/**
 * Cuts a page off the beginning of a list.
 *
 * @param items In their order; one more than `limit` is enough to see that there is a next page.
 * @param limit The most items of the page.
 * @param encode Encodes the cursor of the page that follows an item.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const shorts = [{ publishedAt: 2, id: "b" }, { publishedAt: 1, id: "a" }];
 * cutPage(shorts, 1, encodeShortsCursor).items; // [{ publishedAt: 2, id: "b" }]
 */
export function cutPage<Item>(
  items: readonly Item[],
  limit: number,
  encode: (last: Item) => string,
): CursorPage<Item> {
  assertWholeNumber("limit", limit, 1);
  const hasMore = items.length > limit;
  const last = hasMore ? items[limit - 1] : undefined;
  const nextCursor = last === undefined ? null : encode(last);
  return { items: items.slice(0, limit), hasMore, nextCursor };
}

/**
 * Finds the page of a sorted list that a request selects, by binary search.
 *
 * @param sorted In the order of {@link compareShortPositions}.
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
    // The shorts that are not selected come first: those from `before` on, and those up to `after`.
    if (isShortSelected(short, selection)) high = middle;
    else low = middle + 1;
  }
  return cutPage(sorted.slice(low, low + limit + 1), limit, encodeShortsCursor);
}

/** The first value of cursors of shorts. */
const SHORTS = ["shorts"];

/**
 * Encodes a position as a cursor: opaque to clients, safe in a URL.
 *
 * @throws {RangeError} For an instant that is no whole number or not in the years 0 to 9999, and for
 * a text that is no identifier.
 *
 * @example
 * encodeShortsCursor({ publishedAt: 1, id: "-aB_9" }); // "WyJzaG9ydHMiLDEsIi1hQl85Il0"
 */
export function encodeShortsCursor({ publishedAt, id }: ShortPosition): string {
  if (!isInstant(publishedAt)) {
    throw new RangeError(
      `A cursor needs whole milliseconds in the years 0 to 9999, got ${publishedAt}`,
    );
  }
  return encodePosition(SHORTS, { number: publishedAt, id });
}

/**
 * Decodes a cursor of {@link encodeShortsCursor}.
 *
 * @throws {DomainError} `Invalid Request` for any other text.
 *
 * @example
 * decodeShortsCursor("WyJzaG9ydHMiLDEsIi1hQl85Il0"); // { publishedAt: 1, id: "-aB_9" }
 */
export function decodeShortsCursor(cursor: string): ShortPosition {
  const { number = null, id = "" } = decodePosition(SHORTS, cursor) ?? {};
  if (number === null || !isInstant(number)) {
    throw createInvalidRequestError(
      `cursor must be the nextCursor of a page of shorts, got ${quoteValue(cursor)}`,
    );
  }
  return { publishedAt: number, id };
}
