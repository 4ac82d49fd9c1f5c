/**
 * Points of histories as answers show them: from numbers to the text that is sent, byte by byte. A
 * page has more than a thousand, and neither points nor their JSON need become objects: it takes a
 * third of the time.
 */
import { KIND_FIELDS, type EntityKind } from "../../../core/entity-kinds.ts";
import { DAY_MS, formatDay } from "../../../core/time.ts";
import { forEachPoint, type Chunk, type PointCallback } from "./chunk-codec.ts";

/**
 * A point as an answer shows it: of each label, in their order, the number that it has. `at` is the
 * instant, which is written as an instant.
 */
export type PointFields = Readonly<Record<string, string>>;

/** What is written behind an instant. */
export type ZoneSuffix = "Z" | "";

/** Characters of an instant without its zone: more than any number has. */
const INSTANT_CHARACTERS = 23;

const ZERO = 0x30;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const encoder = new TextEncoder();
const NULL = encoder.encode("null");

/** What is written; it grows to the longest. */
let buffer = new Uint8Array(131_072);

/**
 * Makes the writer of points of a form.
 *
 * @param zone What is written behind an instant.
 * @returns Takes the chunks of a history, in their order; makes the JSON of an answer, in ASCII.
 */
export function createPointsEncoder(
  kind: EntityKind,
  fields: PointFields,
  zone: ZoneSuffix,
): (chunks: readonly Chunk[]) => Uint8Array {
  const { counts } = KIND_FIELDS[kind];
  const encodeRows = createRowsEncoder(counts, fields, zone);
  return (chunks) => {
    const size = chunks.reduce((sum, [, pointCount]) => sum + pointCount, 0);
    return encodeRows(size, (put) => {
      for (const chunk of chunks) forEachPoint(chunk, counts.length, put);
    });
  };
}

/**
 * Makes the writer of rows of numbers of a form.
 *
 * @param numbers What the numbers of a row are, in their order.
 * @returns Takes how many rows there are at most, and what puts them one by one; makes the JSON of
 * an answer, in ASCII.
 */
export function createRowsEncoder(
  numbers: readonly string[],
  fields: PointFields,
  zone: ZoneSuffix,
): (most: number, putAll: (put: PointCallback) => void) => Uint8Array {
  const openings = Object.entries(fields).map(([label, number], index, all) => {
    const [, previous] = all[index - 1] ?? [];
    const opening = `${previous === "at" ? `${zone}"` : ""}${index === 0 ? "{" : ","}`;
    return encoder.encode(`${opening}${JSON.stringify(label)}:${number === "at" ? '"' : ""}`);
  });
  // The instant is place -1 of a row.
  const valueIndexes = Object.values(fields).map((name) =>
    name === "at" ? -1 : requireIndex(numbers, name),
  );
  const closing = encoder.encode(Object.values(fields).at(-1) === "at" ? `${zone}"}` : "}");
  const labelBytes = openings.reduce((sum, { length }) => sum + length, closing.length + 1);
  const rowBytes = labelBytes + openings.length * INSTANT_CHARACTERS;

  return (most, putAll) => {
    const bytes = 2 + most * rowBytes;
    if (buffer.length < bytes) buffer = new Uint8Array(2 * bytes);
    const out = buffer;
    let offset = 0;
    out[offset++] = OPEN_BRACKET;
    putAll((at, values) => {
      if (offset > 1) out[offset++] = COMMA;
      for (let index = 0; index < openings.length; index++) {
        offset = copyBytes(openings[index] ?? closing, out, offset);
        const place = valueIndexes[index] ?? -1;
        offset =
          place === -1
            ? writeInstant(at, out, offset)
            : writeNumber(values[place] ?? null, out, offset);
      }
      offset = copyBytes(closing, out, offset);
    });
    out[offset++] = CLOSE_BRACKET;
    return out.slice(0, offset);
  };
}

function requireIndex(numbers: readonly string[], name: string): number {
  const place = numbers.indexOf(name);
  if (place === -1) throw new Error(`There is no number ${name}`);
  return place;
}

function writeNumber(number: number | null, out: Uint8Array, from: number): number {
  if (number === null) return copyBytes(NULL, out, from);
  if (number < 0) {
    out[from] = MINUS;
    return writeNumber(-number, out, from + 1);
  }
  let digits = 1;
  for (let bound = 10; number >= bound; bound *= 10) digits++;
  let at = from + digits;
  let remaining = number;
  while (remaining >= 100) {
    const hundreds = Math.floor(remaining / 100);
    writeTwoDigits(remaining - 100 * hundreds, out, (at -= 2));
    remaining = hundreds;
  }
  if (remaining >= 10) writeTwoDigits(remaining, out, from);
  else out[from] = ZERO + remaining;
  return from + digits;
}

function copyBytes(source: Uint8Array, out: Uint8Array, to: number): number {
  for (let at = 0; at < source.length; at++) out[to + at] = source[at] ?? 0;
  return to + source.length;
}

/** The day that was written last: the points of a history have few. */
let lastDay = Number.NaN;
let lastDayBytes = new Uint8Array();

/** Writes an instant without its zone: `2026-11-20T08:15:30.123`. */
function writeInstant(instant: number, out: Uint8Array, to: number): number {
  const day = Math.floor(instant / DAY_MS);
  if (day !== lastDay) {
    lastDay = day;
    lastDayBytes = encoder.encode(`${formatDay(day)}T`);
  }
  const ms = instant - day * DAY_MS;
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const thousandths = ms - 1000 * seconds;
  const at = copyBytes(lastDayBytes, out, to);
  writeTwoDigits(hours, out, at);
  out[at + 2] = COLON;
  writeTwoDigits(minutes - 60 * hours, out, at + 3);
  out[at + 5] = COLON;
  writeTwoDigits(seconds - 60 * minutes, out, at + 6);
  out[at + 8] = DOT;
  const hundredths = Math.floor(thousandths / 10);
  writeTwoDigits(hundredths, out, at + 9);
  out[at + 11] = ZERO + thousandths - 10 * hundredths;
  return at + 12;
}

/** Writes two digits; the product is a tenth of a number below 100, without a division. */
function writeTwoDigits(number: number, out: Uint8Array, to: number): void {
  const tens = (number * 205) >> 11;
  out[to] = ZERO + tens;
  out[to + 1] = ZERO + number - 10 * tens;
}
