/** Encodes the points of histories as JSON bytes, in a third of the time of `JSON.stringify()`. */
import { DAY_MS, formatDay } from "../../../core/time.ts";
import type { forEachPoint } from "./chunk-codec.ts";

/** The members of a point, in their order: label to the name of a count, or `at`, the instant. */
export type PointFields = Readonly<Record<string, string>>;

type WriteRow = Parameters<typeof forEachPoint>[2];

/** `2026-11-20T08:15:30.123`; no number is longer. */
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

// All encoders share the buffers of this file: encoding never awaits, so two calls cannot overlap.
let buffer = new Uint8Array(131_072);

/**
 * Creates an encoder of rows of numbers, which have the names `columns` in their order. The encoder
 * takes the most rows there are, and a function that writes them; it returns the bytes of a JSON
 * array.
 */
export function createRowsEncoder(
  columns: readonly string[],
  fields: PointFields,
  zone: "Z" | "",
): (maxRows: number, writeRows: (writeRow: WriteRow) => void) => Uint8Array {
  const openings = Object.entries(fields).map(([label, name], index, all) => {
    const [, previousName] = all[index - 1] ?? [];
    const separator = `${previousName === "at" ? `${zone}"` : ""}${index === 0 ? "{" : ","}`;
    return encoder.encode(`${separator}${JSON.stringify(label)}:${name === "at" ? '"' : ""}`);
  });
  const names = Object.values(fields);
  const missing = names.find((name) => name !== "at" && !columns.includes(name));
  if (missing !== undefined) throw new Error(`There is no number ${missing}`);
  // The index of the instant is -1.
  const valueIndexes = names.map((name) => columns.indexOf(name));
  const closing = encoder.encode(names.at(-1) === "at" ? `${zone}"}` : "}");
  const labelBytes = openings.reduce((sum, { length }) => sum + length, closing.length + 1);
  const rowBytes = labelBytes + openings.length * INSTANT_CHARACTERS;

  return (maxRows, writeRows) => {
    const bytes = 2 + maxRows * rowBytes;
    if (buffer.length < bytes) buffer = new Uint8Array(2 * bytes);
    const out = buffer;
    let offset = 0;
    out[offset++] = OPEN_BRACKET;
    writeRows((at, values) => {
      if (offset > 1) out[offset++] = COMMA;
      for (let index = 0; index < openings.length; index++) {
        offset = copyBytes(openings[index] ?? closing, out, offset);
        const valueIndex = valueIndexes[index] ?? -1;
        offset =
          valueIndex === -1
            ? writeInstant(at, out, offset)
            : writeNumber(values[valueIndex] ?? null, out, offset);
      }
      offset = copyBytes(closing, out, offset);
    });
    out[offset++] = CLOSE_BRACKET;
    return out.slice(0, offset);
  };
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

// The last day that was written: consecutive points often share a day.
let lastDay = Number.NaN;
let lastDayBytes = new Uint8Array();

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

/** Writes a number below 100 as two digits. `* 205 >> 11` divides by ten without a division. */
function writeTwoDigits(number: number, out: Uint8Array, to: number): void {
  const tens = (number * 205) >> 11;
  out[to] = ZERO + tens;
  out[to + 1] = ZERO + number - 10 * tens;
}
