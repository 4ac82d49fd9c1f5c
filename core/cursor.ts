/**
 * Cursor pagination: cuts pages, and encodes and decodes cursors. A cursor has the name of its list
 * and the last item's position: the next page starts right after it, whatever was added before.
 */
import { assertWholeNumber, createInvalidRequestError, quoteValue } from "./errors.ts";
import type { CursorPagination } from "./resources/generated/types.ts";
import { decodeUtf8, encodeUtf8, FOLDED_IDENTIFIER_MAX_CHARACTERS, isIdentifier } from "./text.ts";

// Every runtime has these, but no type of the language declares them.
declare const atob: (base64: string) => string;
declare const btoa: (bytes: string) => string;

/** A page of a list that continues at a cursor. */
export interface CursorPage<Item> extends Readonly<CursorPagination> {
  /** The items of the page. */
  readonly items: readonly Item[];
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
 * cutPage(["b", "a"], 1, (last) => `after ${last}`);
 * // { items: ["b"], hasMore: true, nextCursor: "after b" }
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

type CursorValue = string | number | null;

/** Encodes a cursor: a JSON array in base64url. A position has numbers, identifiers or `null`. */
export function encodeCursor(
  list: readonly CursorValue[],
  ...position: readonly CursorValue[]
): string {
  for (const value of position) {
    if (isPositionValue(value)) continue;
    const needed = typeof value === "string" ? "an identifier" : "a finite number";
    throw new RangeError(`A cursor needs ${needed}, got ${quoteValue(value)}`);
  }
  const json = JSON.stringify([...list, ...position]);
  // Text of ASCII alone is its own bytes. So most cursors take a fourth of the time.
  const bytes = /[^\0-\x7f]/.test(json) ? String.fromCharCode(...encodeUtf8(json)) : json;
  const base64 = btoa(bytes);
  return /[+/=]/.test(base64)
    ? base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
    : base64;
}

/** Decodes the position of a cursor. The cursor must be the `nextCursor` of a page of `list`. */
export function decodeCursor<Position extends readonly CursorValue[]>(
  cursor: string,
  list: readonly CursorValue[],
  isPosition: (values: readonly CursorValue[]) => values is Position,
  page: string,
): Position {
  const position = parseCursor(cursor).slice(list.length);
  // Several texts decode to the same values: only the encoded form is valid.
  if (position.every(isPositionValue) && isPosition(position)) {
    if (encodeCursor(list, ...position) === cursor) return position;
  }
  throw createInvalidRequestError(
    `cursor must be the nextCursor of ${page}, got ${quoteValue(cursor)}`,
  );
}

function parseCursor(cursor: string): readonly unknown[] {
  try {
    const bytes = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const json = decodeUtf8(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
    const values: unknown = JSON.parse(json);
    return Array.isArray(values) ? values : [];
  } catch {
    return [];
  }
}

function isPositionValue(value: unknown): value is CursorValue {
  return typeof value === "string"
    ? isIdentifier(value, FOLDED_IDENTIFIER_MAX_CHARACTERS)
    : value === null || Number.isFinite(value);
}
