/** Text as the service compares and accepts it. */
import { IDENTIFIER_MAX_CHARACTERS } from "./limits.ts";

/**
 * Orders two texts by their UTF-8 bytes, as identifiers are ordered everywhere.
 *
 * JavaScript's `<` compares UTF-16 units and puts an emoji before `U+FF01`; bytes don't.
 *
 * @returns Below 0, 0 or above 0, as `Array.prototype.sort` wants it.
 *
 * @example
 * ["b", "a"].sort(compareText); // ["a", "b"]
 */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return byteRank(left) - byteRank(right);
  }
  return a.length - b.length;
}

/** Moves the surrogates behind all other units, where their characters stand in UTF-8. */
function byteRank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

/**
 * Folds the case of a username: two usernames are one where these are equal.
 *
 * @example
 * foldCase("NASA") === foldCase("nasa"); // true
 */
export function foldCase(username: string): string {
  return username.toLowerCase();
}

/** Whether a text has more than `max` characters (code points). */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let count = 0;
  for (const _ of text) if (++count > max) return true;
  return false;
}

/** Whether a text comes back from every store as it went in: no NUL, no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/**
 * Makes a sentence of a text from outside, for people: storable, in one line, and cut.
 *
 * @param max Characters (code points) that are kept at most.
 *
 * @example
 * readErrorMessage("It broke\noff", 300); // "It broke off"
 */
export function sanitizeMessage(text: string, max: number): string {
  // A character is at most two units.
  const characters = Array.from(text.slice(0, 2 * max + 1).toWellFormed());
  const cut = characters.length > max ? [...characters.slice(0, max), "…"] : characters;
  return cut.join("").replace(/\p{Cc}+/gu, " ");
}

/** Whether a text has a control character (`\p{Cc}`), which no identifier may. */
export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)) return true;
  }
  return false;
}

/**
 * Whether a text can be an identifier: 1 to 256 characters, storable, no control character.
 *
 * @example
 * isIdentifier("-aB_9"); // true
 */
export function isIdentifier(text: string): boolean {
  return (
    text !== "" &&
    isStorable(text) &&
    !hasControlCharacter(text) &&
    !isLongerThan(text, IDENTIFIER_MAX_CHARACTERS)
  );
}
