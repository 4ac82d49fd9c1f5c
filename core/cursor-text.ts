/**
 * The text of a cursor: a whole number in base 36, and an identifier, which may be in lower case, as
 * its code points in hex, joined by `-`. A server writes and reads a cursor with each page, so this is written for speed:
 * bytes in one buffer, which the runtime turns into text at once.
 */
import { INTEGER_MAX } from "./limits.ts";
import { quoteValue } from "./errors.ts";
import { FOLDED_IDENTIFIER_MAX_CHARACTERS, isFoldedIdentifier } from "./text.ts";

// Every runtime has it, but no type of the language declares it.
declare const TextDecoder: new (
  encoding: "utf-8",
  options: { readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

// A byte order mark is a character of an identifier.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Digits of the largest whole number, 2^53 - 1. */
const NUMBER_MAX_DIGITS = 11;

/** The lower digits of a number make a 32-bit integer, and so do the others: those are fast. */
const LOW_DIGITS = 5;

/** 36^5. As a power, it is no integer to Bun, and the encoding takes three times as long. */
const LOW_BASE = 60_466_176;

/** Digits of a character, and the `-` before it. */
const CHARACTER_MAX_DIGITS = 7;

/** The most bytes of a UTF-16 unit: `-` and four digits. A surrogate pair takes seven in all. */
const UNIT_MAX_BYTES = 5;

/** UTF-16 units of the longest valid identifier, in any case: a character has two at most. */
const IDENTIFIER_MAX_UNITS = 2 * FOLDED_IDENTIFIER_MAX_CHARACTERS;
const sharedBytes = new Uint8Array(NUMBER_MAX_DIGITS + UNIT_MAX_BYTES * IDENTIFIER_MAX_UNITS);

const DASH = 0x2d;
const DIGITS = Uint8Array.from("0123456789abcdefghijklmnopqrstuvwxyz", (digit) =>
  digit.charCodeAt(0),
);

/** The value of each digit, by its code; 36 for any other ASCII character. */
const DIGIT_VALUES = new Uint8Array(128).fill(36);
for (const [value, code] of DIGITS.entries()) DIGIT_VALUES[code] = value;

/**
 * Encodes a whole number from 0 in base 36.
 *
 * @throws {RangeError} For any other number.
 */
export function encodeNumber(number: number): string {
  const start = writeNumber(number);
  return decoder.decode(sharedBytes.subarray(start, NUMBER_MAX_DIGITS));
}

/**
 * Encodes a whole number from 0 and an identifier, joined by `-`: safe in a URL. Nothing is before
 * the `-` if the number is `null`.
 *
 * @throws {RangeError} For any other number, and for what is no identifier in any case.
 */
export function encodePosition(number: number | null, id: string): string {
  if (!isFoldedIdentifier(id)) {
    throw new RangeError(`A cursor needs an identifier, got ${quoteValue(id)}`);
  }
  const start = number === null ? NUMBER_MAX_DIGITS : writeNumber(number);
  return decoder.decode(sharedBytes.subarray(start, writeIdentifier(id)));
}

/** Writes a number right before the identifier, and returns where it starts. */
function writeNumber(number: number): number {
  if (!Number.isSafeInteger(number)) {
    throw new RangeError(`A cursor needs a whole number, got ${number}`);
  }
  const high = Math.floor(number / LOW_BASE) | 0;
  let rest = (number - high * LOW_BASE) | 0;
  for (let digit = 1; digit <= NUMBER_MAX_DIGITS; digit++) {
    sharedBytes[NUMBER_MAX_DIGITS - digit] = DIGITS[rest % 36] ?? 0;
    rest = digit === LOW_DIGITS ? high : (rest / 36) | 0;
  }
  let start = 0;
  while (start < NUMBER_MAX_DIGITS - 1 && sharedBytes[start] === DIGITS[0]) start++;
  return start;
}

/** Writes an identifier after the number, and returns where it ends. */
function writeIdentifier(id: string): number {
  let end = NUMBER_MAX_DIGITS;
  for (let index = 0; index < id.length; index++) {
    let point = id.charCodeAt(index);
    // Stryker disable next-line ConditionalExpression,EqualityOperator: only faster for ASCII.
    if (point > 0x7f) point = id.codePointAt(index) ?? point;
    if (point > 0xffff) index++;
    sharedBytes[end++] = DASH;
    let shift = 0;
    while (point >> shift > 0xf) shift += 4;
    for (; shift >= 0; shift -= 4) sharedBytes[end++] = DIGITS[(point >> shift) & 0xf] ?? 0;
  }
  return end;
}

/** Decodes the number of {@link encodeNumber} at `start`; `undefined` for any other text. */
export function decodeNumber(text: string, start: number, end: number): number | undefined {
  const hasLeadingZero = end - start > 1 && text.charCodeAt(start) === DIGITS[0];
  if (start >= end || hasLeadingZero) return undefined;
  let number = 0;
  for (let index = start; index < end; index++) {
    const digit = DIGIT_VALUES[text.charCodeAt(index)] ?? 36;
    if (digit >= 36) return undefined;
    number = number * 36 + digit;
    if (number > INTEGER_MAX) return undefined;
  }
  return number;
}

/** Decodes the identifier that a cursor has from `start` on; `undefined` for any other text. */
export function decodeIdentifier(text: string, start: number): string | undefined {
  // Stryker disable next-line ConditionalExpression,EqualityOperator,ArithmeticOperator: isFoldedIdentifier() refuses it too.
  if (text.length - start > FOLDED_IDENTIFIER_MAX_CHARACTERS * CHARACTER_MAX_DIGITS)
    return undefined;
  let end = 0;
  let point = 0;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === DASH) {
      if (!isCharacter(point)) return undefined;
      end = writeCharacter(end, point);
      point = 0;
      continue;
    }
    const digit = DIGIT_VALUES[unit] ?? 36;
    point = (point << 4) | digit;
    // A first digit 0 is not what was encoded: no identifier has a NUL.
    if (digit > 0xf || point === 0 || point > 0x10ffff) return undefined;
  }
  if (!isCharacter(point)) return undefined;
  const id = decoder.decode(sharedBytes.subarray(0, writeCharacter(end, point)));
  return isFoldedIdentifier(id) ? id : undefined;
}

/** Whether a code point is a character: no half of a surrogate pair. */
function isCharacter(point: number): boolean {
  return point >> 11 !== 0xd800 >> 11;
}

/** Writes a character in UTF-8, and returns where it ends. */
function writeCharacter(start: number, point: number): number {
  let end = start;
  if (point < 0x80) {
    sharedBytes[end++] = point;
    return end;
  }
  if (point < 0x800) sharedBytes[end++] = 0xc0 | (point >> 6);
  else {
    if (point < 0x1_0000) sharedBytes[end++] = 0xe0 | (point >> 12);
    else {
      sharedBytes[end++] = 0xf0 | (point >> 18);
      sharedBytes[end++] = 0x80 | ((point >> 12) & 0x3f);
    }
    sharedBytes[end++] = 0x80 | ((point >> 6) & 0x3f);
  }
  sharedBytes[end++] = 0x80 | (point & 0x3f);
  return end;
}
