/** Compares, case-folds, checks and encodes text, and makes text safe for messages. */
import { IDENTIFIER_MAX_CHARACTERS } from "./limits.ts";

/**
 * Compares two texts by their UTF-8 bytes, like the `BINARY` collation of SQLite. JavaScript's `<`
 * compares UTF-16 units, which puts an emoji before `U+FF01`.
 *
 * @returns Below 0, 0 or above 0, as `Array.prototype.sort` expects.
 *
 * @example
 * ["b", "a"].sort(compareText); // ["a", "b"]
 */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return getByteRank(left) - getByteRank(right);
  }
  return a.length - b.length;
}

/** Ranks surrogates after all other units, because UTF-8 puts their characters last. */
function getByteRank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

/**
 * Folds the case of a username; equal results mean the same username.
 *
 * @example
 * foldCase("NASA"); // "nasa"
 */
export function foldCase(username: string): string {
  return username.toLowerCase();
}

/**
 * Computes a number of 53 bits that stands for a text (cyrb53). Equal texts have equal numbers.
 *
 * @example
 * hashText("a"); // 7929297801672961
 */
export function hashText(text: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}

/** Characters (code points) of an identifier in lower case: only `İ` becomes two characters. */
export const FOLDED_IDENTIFIER_MAX_CHARACTERS: number = 2 * IDENTIFIER_MAX_CHARACTERS;

/** Whether a text has more than `max` characters, counted as code points. */
export function isLongerThan(text: string, max: number): boolean {
  // Stryker disable ConditionalExpression,EqualityOperator: these only save the counting.
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  // Stryker restore ConditionalExpression,EqualityOperator
  let count = 0;
  for (const _ of text) if (++count > max) return true;
  return false;
}

/** Whether a database returns a text as it was written: no NUL, no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** Makes a text safe for a message: storable, one line, cut to `max` characters with `…`. */
export function sanitizeMessage(text: string, max: number): string {
  // A character has at most two units.
  // Stryker disable next-line MethodExpression: without the cut it is only slower.
  const characters = Array.from(text.slice(0, 2 * max + 1).toWellFormed());
  const cut = characters.length > max ? [...characters.slice(0, max), "…"] : characters;
  return cut.join("").replace(/\p{Cc}+/gu, " ");
}

/** Whether a text has a control character. */
export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Whether a text can be an identifier: 1 to `max` characters, storable, no control character. */
export function isIdentifier(text: string, max: number = IDENTIFIER_MAX_CHARACTERS): boolean {
  return text !== "" && isStorable(text) && !hasControlCharacter(text) && !isLongerThan(text, max);
}

// Every runtime has these, but no type of the language declares them.
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  encoding: "utf-8",
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Encodes a text. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes UTF-8, and keeps a byte order mark. Invalid bytes throw a `TypeError`. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
