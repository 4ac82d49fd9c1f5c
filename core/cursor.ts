/**
 * Pages by position: `/shorts`. A cursor is the place of the last short of a page in the listing,
 * so the next page continues exactly there, whatever was published in between.
 */
import { DomainError, quote } from "./errors.ts";
import { SHORTS_LIMIT } from "./limits.ts";
import { readSingleValue, parseIntegerParameter, type GetQueryValues } from "./parameters.ts";
import { compareText, isIdentifier } from "./text.ts";
import { LAST_INSTANT, parseInstantParameter } from "./time.ts";

/** Where a short stands in the listing of its channel. */
export interface ShortPosition {
  /** Milliseconds since 1970 UTC. */
  readonly publishedAt: number;
  readonly id: string;
}

/** What a client asked of the shorts of a channel. */
export interface ShortsRequest {
  readonly limit: number;
  /** Only shorts published before this instant (milliseconds). */
  readonly before?: number;
  /** Only shorts that come after this position. */
  readonly after?: ShortPosition;
}

/**
 * Reads `limit`, `before` and `cursor`.
 *
 * @throws {DomainError} `Invalid Request`, naming the parameter, what it was and what is allowed.
 */
export function parseShortsRequest(getValues: GetQueryValues): ShortsRequest {
  const limit = parseIntegerParameter("limit", getValues("limit"), SHORTS_LIMIT);
  const before = readSingleValue("before", getValues("before"));
  const cursor = readSingleValue("cursor", getValues("cursor"));
  return {
    limit,
    ...(before === undefined ? {} : { before: parseInstantParameter("before", before) }),
    ...(cursor === undefined ? {} : { after: decodeCursor(cursor) }),
  };
}

/**
 * Orders two positions as the listing does: newest first, then the greater identifier.
 *
 * @example
 * shorts.toSorted(comparePositions);
 */
export function comparePositions(a: ShortPosition, b: ShortPosition): number {
  return b.publishedAt - a.publishedAt || compareText(b.id, a.id);
}

/**
 * Whether a short belongs to what was asked: published before `before` and behind `after`.
 */
export function isShortSelected(
  short: ShortPosition,
  request: Omit<ShortsRequest, "limit">,
): boolean {
  const { before, after } = request;
  if (before !== undefined && short.publishedAt >= before) return false;
  return after === undefined || comparePositions(after, short) < 0;
}

/**
 * Writes a position as a cursor: opaque to clients, safe in a URL as it stands.
 *
 * @example
 * encodeCursor({ publishedAt: 1795162530123, id: "-aB_9" }); // "mo7wumekr-2d-61-42-5f-39"
 */
export function encodeCursor({ publishedAt, id }: ShortPosition): string {
  const codePoints = Array.from(id, (character) => character.codePointAt(0)?.toString(16));
  return [(publishedAt + EPOCH_OFFSET_MS).toString(36), ...codePoints].join("-");
}

/** Keeps the number of a cursor positive: it begins before the year 0. */
const EPOCH_OFFSET_MS = 62_167_219_200_000;

/**
 * Reads a cursor that {@link encodeCursor} wrote.
 *
 * @throws {DomainError} `Invalid Request` for any other text.
 */
export function decodeCursor(cursor: string): ShortPosition {
  const position = parsePosition(cursor);
  if (position === undefined || encodeCursor(position) !== cursor) {
    throw new DomainError(
      "Invalid Request",
      `cursor must be the nextCursor of a page of shorts, got ${quote(cursor)}`,
    );
  }
  return position;
}

function parsePosition(cursor: string): ShortPosition | undefined {
  if (!/^[0-9a-z]{1,11}(?:-[0-9a-f]{1,6}){1,256}$/.test(cursor)) return undefined;
  const [instant = "", ...hexCodePoints] = cursor.split("-");
  const codePoints = hexCodePoints.map((unit) => Number.parseInt(unit, 16));
  if (codePoints.some((point) => point > 0x10ffff)) return undefined;
  const id = String.fromCodePoint(...codePoints);
  if (!isIdentifier(id)) return undefined;
  const publishedAt = Number.parseInt(instant, 36) - EPOCH_OFFSET_MS;
  return publishedAt > LAST_INSTANT ? undefined : { publishedAt, id };
}
