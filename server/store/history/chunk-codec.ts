/**
 * Histories as they lie in the tables: in chunks, as text. A chunk holds the points of one entity
 * from its first instant on, oldest first; of each the instant and then the counts of its kind, in
 * the order in which the kind declares them.
 *
 * Each number is written as its difference from the one before it in the chunk (the first instant
 * from the start, a first count from 0), as source maps write theirs: base64 VLQ. An unknown count
 * is a `-`, and the next known one is compared with the last known. Numbers that change little so
 * take one to five characters.
 */

/** A part of a history: its first instant, how many points it has, and the points. */
export type Chunk = readonly [start: number, size: number, points: string];

/** What was counted at an instant; the counts stand in the order of their kind. */
export interface Point {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  readonly counts: readonly (number | null)[];
}

/** Takes a point. The counts are only lent: they are others once it returns. */
export type PointCallback = (at: number, counts: readonly (number | null)[]) => void;

/** Characters of a chunk at most: four such rows fill a page of the database. */
export const CHUNK_MAX_CHARACTERS = 960;

/** Characters of a number at most: 4 bits and a sign, then 5 bits each, of 53. */
const NUMBER_MAX_CHARACTERS = 11;

const BASE64_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_CHARACTERS = Uint8Array.from(BASE64_ALPHABET, (letter) => letter.charCodeAt(0));
const UNKNOWN_CHARACTER = "-".charCodeAt(0);

/** The digit of each character. */
const UNKNOWN_DIGIT = 64;
const INVALID_DIGIT = 65;
const DIGIT_VALUES = new Uint8Array(128).fill(INVALID_DIGIT);
DIGIT_CHARACTERS.forEach((letter, digit) => (DIGIT_VALUES[letter] = digit));
DIGIT_VALUES[UNKNOWN_CHARACTER] = UNKNOWN_DIGIT;

/** Of a digit: whether more follow, and its number. */
const CONTINUATION_BIT = 32;
const PAYLOAD_MASK = 31;

/**
 * Goes through the points of a chunk, oldest first.
 *
 * @param width How many counts a point has.
 * @throws {Error} Where the chunk is damaged: no number is guessed.
 */
export function forEachPoint(chunk: Chunk, width: number, onPoint: PointCallback): void {
  const [start, size, text] = chunk;
  const lastCounts = new Float64Array(width);
  const counts = Array.from({ length: width }, (): number | null => null);
  let at = start;
  let decodedCount = 0;
  let index = 0;
  while (index < text.length) {
    // The instant is place -1 of a point.
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
      if (digit >= UNKNOWN_DIGIT) throw damagedChunkError(chunk);
      const difference = isNegative ? -magnitude : magnitude;
      if (countIndex === -1) at += difference;
      else counts[countIndex] = lastCounts[countIndex] = (lastCounts[countIndex] ?? 0) + difference;
    }
    onPoint(at, counts);
    decodedCount++;
  }
  if (decodedCount !== size) throw damagedChunkError(chunk);
}

/** Whether some count of a chunk is unknown. */
export function hasUnknownCount([, , text]: Chunk): boolean {
  return text.includes("-");
}

/** The digit at a place of a text; none past its end. */
function readDigit(text: string, index: number): number {
  return DIGIT_VALUES[text.charCodeAt(index)] ?? INVALID_DIGIT;
}

function damagedChunkError([start]: Chunk): Error {
  return new Error(`The chunk of a history that starts at ${start} is damaged`);
}

/** The points of chunks, in their order. */
export function decodeChunks(chunks: readonly Chunk[], width: number): Point[] {
  const points: Point[] = [];
  for (const chunk of chunks) {
    forEachPoint(chunk, width, (at, counts) => points.push({ at, counts: [...counts] }));
  }
  return points;
}

/** A chunk being written, and one point more than it may hold. */
let buffer = Buffer.alloc(CHUNK_MAX_CHARACTERS);

/**
 * Packs points into chunks.
 *
 * @param points Oldest first, no two at one instant, of `width` counts each. They may be lent: none
 * is looked at after the next.
 * @param lastChunk A chunk that they come after: it is filled first.
 * @returns The chunks that have points of these, `onto` with what was added to it among them.
 */
export function encodeChunks(points: Iterable<Point>, width: number, lastChunk?: Chunk): Chunk[] {
  const chunks: Chunk[] = [];
  const bufferBytes = CHUNK_MAX_CHARACTERS + (width + 1) * NUMBER_MAX_CHARACTERS;
  if (buffer.length < bufferBytes) buffer = Buffer.alloc(bufferBytes);
  const lastCounts = Array.from({ length: width }, () => 0);
  let [start, size, text] = lastChunk ?? [0, 0, ""];
  let lastAt = lastChunk === undefined ? 0 : readLastKnown(lastChunk, lastCounts);
  let offset = 0;
  for (const point of points) {
    if (size === 0) start = lastAt = point.at;
    let end = encodePoint(point, lastAt, lastCounts, offset);
    if (text.length + end > CHUNK_MAX_CHARACTERS) {
      if (offset > 0) chunks.push([start, size, text + readBufferText(offset)]);
      [start, size, text] = [point.at, 0, ""];
      lastCounts.fill(0);
      end = encodePoint(point, start, lastCounts, 0);
    }
    offset = end;
    size++;
    lastAt = point.at;
  }
  if (offset > 0) chunks.push([start, size, text + readBufferText(offset)]);
  return chunks;
}

/**
 * Packs points into chunks that leave room alike: what is too long for one is halved. Where a full
 * chunk is given a point in its middle again and again, it does not shed a chunk of one point each
 * time.
 */
export function encodeChunksEvenly(points: readonly Point[], width: number): Chunk[] {
  const chunks = encodeChunks(points, width);
  if (chunks.length <= 1) return chunks;
  const half = Math.ceil(points.length / 2);
  return [points.slice(0, half), points.slice(half)].flatMap((part) =>
    encodeChunksEvenly(part, width),
  );
}

/**
 * Finds the last instant of a chunk, and the last known counts.
 *
 * @param lastCounts Takes the counts; 0 where none is known.
 */
function readLastKnown(chunk: Chunk, lastCounts: number[]): number {
  let lastAt = chunk[0];
  forEachPoint(chunk, lastCounts.length, (at, counts) => {
    lastAt = at;
    for (let countIndex = 0; countIndex < lastCounts.length; countIndex++) {
      const count = counts[countIndex];
      if (typeof count === "number") lastCounts[countIndex] = count;
    }
  });
  return lastAt;
}

/** Writes a point; `last` becomes the last known counts. */
function encodePoint(
  { at, counts }: Point,
  lastAt: number,
  lastCounts: number[],
  offset: number,
): number {
  let to = encodeNumber(at - lastAt, offset);
  for (let countIndex = 0; countIndex < lastCounts.length; countIndex++) {
    const count = counts[countIndex];
    if (typeof count === "number") {
      to = encodeNumber(count - (lastCounts[countIndex] ?? 0), to);
      lastCounts[countIndex] = count;
    } else {
      buffer[to++] = UNKNOWN_CHARACTER;
    }
  }
  return to;
}

function encodeNumber(number: number, offset: number): number {
  let to = offset;
  const magnitude = Math.abs(number);
  let digit = ((magnitude & 15) << 1) | (number < 0 ? 1 : 0);
  let remaining = Math.floor(magnitude / 16);
  while (remaining > 0) {
    buffer[to++] = DIGIT_CHARACTERS[digit | CONTINUATION_BIT] ?? 0;
    digit = remaining & PAYLOAD_MASK;
    remaining = Math.floor(remaining / 32);
  }
  buffer[to++] = DIGIT_CHARACTERS[digit] ?? 0;
  return to;
}

function readBufferText(length: number): string {
  return buffer.toString("latin1", 0, length);
}
