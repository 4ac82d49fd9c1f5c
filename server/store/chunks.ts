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
export type Visit = (at: number, counts: readonly (number | null)[]) => void;

/** Characters of a chunk at most: four such rows fill a page of the database. */
export const CHUNK_MAX_CHARACTERS = 960;

/** Characters of a number at most: 4 bits and a sign, then 5 bits each, of 53. */
const NUMBER_MAX_CHARACTERS = 11;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LETTERS = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const UNKNOWN = "-".charCodeAt(0);

/** The digit of each character. */
const DIGIT_OF_UNKNOWN = 64;
const NO_DIGIT = 65;
const DIGITS = new Uint8Array(128).fill(NO_DIGIT);
LETTERS.forEach((letter, digit) => (DIGITS[letter] = digit));
DIGITS[UNKNOWN] = DIGIT_OF_UNKNOWN;

/** Of a digit: whether more follow, and its number. */
const MORE = 32;
const PAYLOAD = 31;

/**
 * Goes through the points of a chunk, oldest first.
 *
 * @param width How many counts a point has.
 * @throws {Error} Where the chunk is damaged: no number is guessed.
 */
export function visitPoints(chunk: Chunk, width: number, visit: Visit): void {
  const [start, size, text] = chunk;
  const last = new Float64Array(width);
  const counts = Array.from({ length: width }, (): number | null => null);
  let at = start;
  let visited = 0;
  let index = 0;
  while (index < text.length) {
    // The instant is place -1 of a point.
    for (let place = -1; place < width; place++) {
      let digit = digitAt(text, index++);
      if (digit === DIGIT_OF_UNKNOWN && place >= 0) {
        counts[place] = null;
        continue;
      }
      const isNegative = (digit & 1) === 1;
      let magnitude = (digit & PAYLOAD) >> 1;
      let scale = 16;
      while (digit >= MORE && digit < DIGIT_OF_UNKNOWN) {
        digit = digitAt(text, index++);
        magnitude += (digit & PAYLOAD) * scale;
        scale *= 32;
      }
      if (digit >= DIGIT_OF_UNKNOWN) throw damaged(chunk);
      const difference = isNegative ? -magnitude : magnitude;
      if (place === -1) at += difference;
      else counts[place] = last[place] = (last[place] ?? 0) + difference;
    }
    visit(at, counts);
    visited++;
  }
  if (visited !== size) throw damaged(chunk);
}

/** Whether some count of a chunk is unknown. */
export function hasUnknown([, , text]: Chunk): boolean {
  return text.includes("-");
}

/** The digit at a place of a text; none past its end. */
function digitAt(text: string, index: number): number {
  return DIGITS[text.charCodeAt(index)] ?? NO_DIGIT;
}

function damaged([start]: Chunk): Error {
  return new Error(`The chunk of a history that starts at ${start} is damaged`);
}

/** The points of chunks, in their order. */
export function unpack(chunks: readonly Chunk[], width: number): Point[] {
  const points: Point[] = [];
  for (const chunk of chunks) {
    visitPoints(chunk, width, (at, counts) => points.push({ at, counts: [...counts] }));
  }
  return points;
}

/** A chunk being written, and one point more than it may hold. */
let written = Buffer.alloc(CHUNK_MAX_CHARACTERS);

/**
 * Packs points into chunks.
 *
 * @param points Oldest first, no two at one instant, of `width` counts each. They may be lent: none
 * is looked at after the next.
 * @param onto A chunk that they come after: it is filled first.
 * @returns The chunks that have points of these, `onto` with what was added to it among them.
 */
export function pack(points: Iterable<Point>, width: number, onto?: Chunk): Chunk[] {
  const chunks: Chunk[] = [];
  const most = CHUNK_MAX_CHARACTERS + (width + 1) * NUMBER_MAX_CHARACTERS;
  if (written.length < most) written = Buffer.alloc(most);
  const last = Array.from({ length: width }, () => 0);
  let [start, size, text] = onto ?? [0, 0, ""];
  let lastAt = onto === undefined ? 0 : findLast(onto, last);
  let to = 0;
  for (const point of points) {
    if (size === 0) start = lastAt = point.at;
    let end = putPoint(point, lastAt, last, to);
    if (text.length + end > CHUNK_MAX_CHARACTERS) {
      if (to > 0) chunks.push([start, size, text + writtenText(to)]);
      [start, size, text] = [point.at, 0, ""];
      last.fill(0);
      end = putPoint(point, start, last, 0);
    }
    to = end;
    size++;
    lastAt = point.at;
  }
  if (to > 0) chunks.push([start, size, text + writtenText(to)]);
  return chunks;
}

/**
 * Packs points into chunks that leave room alike: what is too long for one is halved. Where a full
 * chunk is given a point in its middle again and again, it does not shed a chunk of one point each
 * time.
 */
export function packEvenly(points: readonly Point[], width: number): Chunk[] {
  const chunks = pack(points, width);
  if (chunks.length <= 1) return chunks;
  const half = Math.ceil(points.length / 2);
  return [points.slice(0, half), points.slice(half)].flatMap((part) => packEvenly(part, width));
}

/**
 * Finds the last instant of a chunk, and the last known counts.
 *
 * @param last Takes the counts; 0 where none is known.
 */
function findLast(chunk: Chunk, last: number[]): number {
  let lastAt = chunk[0];
  visitPoints(chunk, last.length, (at, counts) => {
    lastAt = at;
    for (let place = 0; place < last.length; place++) {
      const count = counts[place];
      if (typeof count === "number") last[place] = count;
    }
  });
  return lastAt;
}

/** Writes a point; `last` becomes the last known counts. */
function putPoint({ at, counts }: Point, lastAt: number, last: number[], from: number): number {
  let to = putNumber(at - lastAt, from);
  for (let place = 0; place < last.length; place++) {
    const count = counts[place];
    if (typeof count === "number") {
      to = putNumber(count - (last[place] ?? 0), to);
      last[place] = count;
    } else {
      written[to++] = UNKNOWN;
    }
  }
  return to;
}

function putNumber(number: number, from: number): number {
  let to = from;
  const magnitude = Math.abs(number);
  let digit = ((magnitude & 15) << 1) | (number < 0 ? 1 : 0);
  let rest = Math.floor(magnitude / 16);
  while (rest > 0) {
    written[to++] = LETTERS[digit | MORE] ?? 0;
    digit = rest & PAYLOAD;
    rest = Math.floor(rest / 32);
  }
  written[to++] = LETTERS[digit] ?? 0;
  return to;
}

function writtenText(length: number): string {
  return written.toString("latin1", 0, length);
}
