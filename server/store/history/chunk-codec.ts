/**
 * Encodes histories as chunks of text, and decodes them.
 *
 * A chunk holds consecutive points of one entity, oldest first. It begins with the header of the
 * points' layout, which names their counts. A point is its instant and these counts, in the order
 * of their numbers. Instants and counts are written as differences from their previous values in
 * the chunk, in base64 VLQ as in source maps: the first instant as the difference from the start, a
 * first count from 0. An unknown count is `-`; the next known one is compared with the last known.
 *
 * If a kind gets another count or loses one, its chunks stay: a count that they lack is unknown,
 * and a count that the kind lost is left out. New points go to new chunks.
 */
import { parsePointLayout, type KindTables } from "../tables/entity-sql.ts";

type PointLayout = KindTables["pointLayout"];

/** A part of a history, as a row of a history table holds it. */
export interface Chunk {
  /** The instant of the first point, in milliseconds since 1970 UTC. */
  readonly start: number;
  readonly size: number;
  readonly points: string;
}

/** The counts of one instant. */
export interface Point {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** In the order of the kind; `null` is unknown. */
  readonly counts: readonly (number | null)[];
}

/** Takes a point. The `counts` array is reused after the call returns: copy it to keep it. */
type PointCallback = (at: number, counts: readonly (number | null)[]) => void;

/** Four rows of this size fill a page of the database. */
const CHUNK_MAX_CHARACTERS = 960;

/** A number has at most 53 bits: 4 and a sign in its first character, 5 in each other one. */
const NUMBER_MAX_CHARACTERS = 11;

const BASE64_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_CHARACTERS = Uint8Array.from(BASE64_ALPHABET, (character) => character.charCodeAt(0));
const UNKNOWN_CHARACTER = "-".charCodeAt(0);

// The entries of DIGIT_VALUES for characters that are no base64 digit.
const UNKNOWN_DIGIT = 64;
const INVALID_DIGIT = 65;
const DIGIT_VALUES = new Uint8Array(128).fill(INVALID_DIGIT);
DIGIT_CHARACTERS.forEach((character, digit) => (DIGIT_VALUES[character] = digit));
DIGIT_VALUES[UNKNOWN_CHARACTER] = UNKNOWN_DIGIT;

/** Set in every digit of a number but its last. */
const CONTINUATION_BIT = 32;
const PAYLOAD_MASK = 31;

/** Calls back with each point of a chunk, oldest first, with the counts of the layout. */
export function forEachPoint(chunk: Chunk, layout: PointLayout, onPoint: PointCallback): void {
  if (chunk.points.startsWith(layout.header)) return decodePoints(chunk, layout, onPoint);
  const stored = parsePointLayout(chunk.points);
  if (stored === undefined) throw createDamagedChunkError(chunk);
  const indexes = layout.countNumbers.map((number) => stored.countNumbers.indexOf(number));
  decodePoints(chunk, stored, (at, counts) => {
    const layoutCounts = indexes.map((index) => counts[index] ?? null);
    onPoint(at, layoutCounts);
  });
}

function decodePoints(chunk: Chunk, layout: PointLayout, onPoint: PointCallback): void {
  const { start, size, points: text } = chunk;
  const width = layout.countNumbers.length;
  const lastCounts = new Float64Array(width);
  const counts = Array.from({ length: width }, (): number | null => null);
  let at = start;
  let decodedCount = 0;
  let index = layout.header.length;
  while (index < text.length) {
    // Index -1 is the instant.
    for (let countIndex = -1; countIndex < width; countIndex++) {
      let digit = readDigit(text, index++);
      if (digit === UNKNOWN_DIGIT && countIndex >= 0) {
        counts[countIndex] = null;
        continue;
      }
      const isNegative = (digit & 1) === 1;
      let magnitude = (digit & PAYLOAD_MASK) >> 1;
      let scale = 16;
      while (digit >= CONTINUATION_BIT && digit < UNKNOWN_DIGIT) {
        digit = readDigit(text, index++);
        magnitude += (digit & PAYLOAD_MASK) * scale;
        scale *= 32;
      }
      if (digit >= UNKNOWN_DIGIT) throw createDamagedChunkError(chunk);
      const difference = isNegative ? -magnitude : magnitude;
      if (countIndex === -1) at += difference;
      else counts[countIndex] = lastCounts[countIndex] = (lastCounts[countIndex] ?? 0) + difference;
    }
    onPoint(at, counts);
    decodedCount++;
  }
  if (decodedCount !== size) throw createDamagedChunkError(chunk);
}

export function hasUnknownCount({ points }: Chunk, { header }: PointLayout): boolean {
  return !points.startsWith(header) || points.includes("-");
}

const readDigit = (text: string, index: number) =>
  DIGIT_VALUES[text.charCodeAt(index)] ?? INVALID_DIGIT;

function createDamagedChunkError({ start }: Chunk): Error {
  const error = new Error(`The chunk of a history that starts at ${start} is damaged`);
  return Object.assign(error, { code: "CHUNK_CORRUPT" });
}

export function decodeChunks(chunks: readonly Chunk[], layout: PointLayout): Point[] {
  const points: Point[] = [];
  for (const chunk of chunks) {
    forEachPoint(chunk, layout, (at, counts) => points.push({ at, counts: [...counts] }));
  }
  return points;
}

/** Space for a chunk and one point more, which all calls share: encoding never awaits. */
let buffer = Buffer.alloc(CHUNK_MAX_CHARACTERS);

/**
 * Encodes points, oldest first and no two at one instant, into as few chunks as possible. The
 * iterable may reuse one point object: none is read after the next is requested. `lastChunk`, the
 * chunk before the points, is filled first, if it has the same layout.
 */
export function encodeChunks(
  points: Iterable<Point>,
  layout: PointLayout,
  lastChunk?: Chunk | null,
): Chunk[] {
  const { header, countNumbers } = layout;
  const chunks: Chunk[] = [];
  const bufferBytes = CHUNK_MAX_CHARACTERS + (countNumbers.length + 1) * NUMBER_MAX_CHARACTERS;
  if (buffer.length < bufferBytes) buffer = Buffer.alloc(bufferBytes);
  const lastCounts = countNumbers.map(() => 0);
  const extended = lastChunk?.points.startsWith(header) === true ? lastChunk : undefined;
  let { start, size, points: text } = extended ?? { start: 0, size: 0, points: header };
  let lastAt = extended === undefined ? 0 : readLastKnown(extended, layout, lastCounts);
  let offset = 0;
  for (const point of points) {
    if (size === 0) start = lastAt = point.at;
    let end = encodePoint(point, lastAt, lastCounts, offset);
    if (text.length + end > CHUNK_MAX_CHARACTERS) {
      if (offset > 0) chunks.push({ start, size, points: text + readBufferText(offset) });
      [start, size, text] = [point.at, 0, header];
      lastCounts.fill(0);
      end = encodePoint(point, start, lastCounts, 0);
    }
    offset = end;
    size++;
    lastAt = point.at;
  }
  if (offset > 0) chunks.push({ start, size, points: text + readBufferText(offset) });
  return chunks;
}

/**
 * Encodes points into chunks of similar length: halves them until each half fits into a chunk. So
 * points that are repeatedly inserted into a full chunk don't split off a chunk of one point each.
 */
export function encodeChunksEvenly(points: readonly Point[], layout: PointLayout): Chunk[] {
  const chunks = encodeChunks(points, layout);
  if (chunks.length <= 1) return chunks;
  const half = Math.ceil(points.length / 2);
  const halves = [points.slice(0, half), points.slice(half)];
  return halves.flatMap((part) => encodeChunksEvenly(part, layout));
}

function readLastKnown(chunk: Chunk, layout: PointLayout, lastCounts: number[]): number {
  let lastAt = chunk.start;
  forEachPoint(chunk, layout, (at, counts) => {
    lastAt = at;
    for (let countIndex = 0; countIndex < lastCounts.length; countIndex++) {
      const count = counts[countIndex];
      if (typeof count === "number") lastCounts[countIndex] = count;
    }
  });
  return lastAt;
}

function encodePoint({ at, counts }: Point, lastAt: number, lastCounts: number[], offset: number) {
  let end = encodeNumber(at - lastAt, offset);
  for (let countIndex = 0; countIndex < lastCounts.length; countIndex++) {
    const count = counts[countIndex];
    if (typeof count === "number") {
      end = encodeNumber(count - (lastCounts[countIndex] ?? 0), end);
      lastCounts[countIndex] = count;
    } else {
      buffer[end++] = UNKNOWN_CHARACTER;
    }
  }
  return end;
}

function encodeNumber(number: number, offset: number): number {
  let end = offset;
  const magnitude = Math.abs(number);
  let digit = ((magnitude & 15) << 1) | (number < 0 ? 1 : 0);
  let remaining = Math.floor(magnitude / 16);
  while (remaining > 0) {
    buffer[end++] = DIGIT_CHARACTERS[digit | CONTINUATION_BIT] ?? 0;
    digit = remaining & PAYLOAD_MASK;
    remaining = Math.floor(remaining / 32);
  }
  buffer[end++] = DIGIT_CHARACTERS[digit] ?? 0;
  return end;
}

const readBufferText = (length: number) => buffer.toString("latin1", 0, length);
