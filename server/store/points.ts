/**
 * Points of histories as answers show them: from chunks to the text that is sent, byte by byte. A
 * page has more than a thousand, and neither points nor their JSON need become objects: it takes a
 * third of the time.
 */
import { KINDS, type Kind } from "../../core/kinds.ts";
import { DAY_MS, formatDay } from "../../core/time.ts";
import { visitPoints, type Chunk } from "./chunks.ts";

/**
 * A point as an answer shows it: of each label, in their order, the count that it has. `at` is the
 * instant, which is written as an instant.
 */
export type PointForm = Readonly<Record<string, string>>;

/** Characters of an instant without its zone: more than any count has. */
const INSTANT_CHARACTERS = 23;

const ZERO = 0x30;
const COMMA = 0x2c;
const COLON = 0x3a;
const DOT = 0x2e;
const OPEN = 0x5b;
const CLOSE = 0x5d;

const encoder = new TextEncoder();
const NULL = encoder.encode("null");

/** What is written; it grows to the longest. */
let written = new Uint8Array(131_072);

/**
 * Makes the writer of points of a form.
 *
 * @param zone What is written behind an instant.
 * @returns Takes the chunks of a history, in their order; makes the JSON of an answer, in ASCII.
 */
export function pointWriter(
  kind: Kind,
  form: PointForm,
  zone: "Z" | "",
): (chunks: readonly Chunk[]) => Uint8Array {
  const counts: readonly string[] = KINDS[kind].counts;
  const openings = Object.entries(form).map(([label, count], index, all) => {
    const [, before] = all[index - 1] ?? [];
    const opening = `${before === "at" ? `${zone}"` : ""}${index === 0 ? "{" : ","}`;
    return encoder.encode(`${opening}${JSON.stringify(label)}:${count === "at" ? '"' : ""}`);
  });
  // The instant is place -1 of a point.
  const places = Object.values(form).map((count) => (count === "at" ? -1 : placeOf(counts, count)));
  const closing = encoder.encode(Object.values(form).at(-1) === "at" ? `${zone}"}` : "}");
  const labelBytes = openings.reduce((sum, { length }) => sum + length, closing.length + 1);
  const pointBytes = labelBytes + openings.length * INSTANT_CHARACTERS;

  return (chunks) => {
    const count = chunks.reduce((sum, [, size]) => sum + size, 0);
    const bytes = 2 + count * pointBytes;
    if (written.length < bytes) written = new Uint8Array(2 * bytes);
    const out = written;
    let to = 0;
    out[to++] = OPEN;
    const visit = (at: number, values: readonly (number | null)[]) => {
      if (to > 1) out[to++] = COMMA;
      for (let index = 0; index < openings.length; index++) {
        to = copy(openings[index] ?? closing, out, to);
        const place = places[index] ?? -1;
        to = place === -1 ? putInstant(at, out, to) : putCount(values[place] ?? null, out, to);
      }
      to = copy(closing, out, to);
    };
    for (const chunk of chunks) visitPoints(chunk, counts.length, visit);
    out[to++] = CLOSE;
    return out.slice(0, to);
  };
}

function placeOf(counts: readonly string[], count: string): number {
  const place = counts.indexOf(count);
  if (place === -1) throw new Error(`There is no count ${count}`);
  return place;
}

function putCount(count: number | null, out: Uint8Array, from: number): number {
  if (count === null) return copy(NULL, out, from);
  let digits = 1;
  for (let bound = 10; count >= bound; bound *= 10) digits++;
  let at = from + digits;
  let rest = count;
  while (rest >= 100) {
    const hundreds = Math.floor(rest / 100);
    putTwo(rest - 100 * hundreds, out, (at -= 2));
    rest = hundreds;
  }
  if (rest >= 10) putTwo(rest, out, from);
  else out[from] = ZERO + rest;
  return from + digits;
}

function copy(source: Uint8Array, out: Uint8Array, to: number): number {
  for (let at = 0; at < source.length; at++) out[to + at] = source[at] ?? 0;
  return to + source.length;
}

/** The day that was written last: the points of a history have few. */
let lastDay = Number.NaN;
let lastDayBytes = new Uint8Array();

/** Writes an instant without its zone: `2026-11-20T08:15:30.123`. */
function putInstant(instant: number, out: Uint8Array, to: number): number {
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
  const at = copy(lastDayBytes, out, to);
  putTwo(hours, out, at);
  out[at + 2] = COLON;
  putTwo(minutes - 60 * hours, out, at + 3);
  out[at + 5] = COLON;
  putTwo(seconds - 60 * minutes, out, at + 6);
  out[at + 8] = DOT;
  const hundredths = Math.floor(thousandths / 10);
  putTwo(hundredths, out, at + 9);
  out[at + 11] = ZERO + thousandths - 10 * hundredths;
  return at + 12;
}

/** Writes two digits; the product is a tenth of a number below 100, without a division. */
function putTwo(number: number, out: Uint8Array, to: number): void {
  const tens = (number * 205) >> 11;
  out[to] = ZERO + tens;
  out[to + 1] = ZERO + number - 10 * tens;
}
