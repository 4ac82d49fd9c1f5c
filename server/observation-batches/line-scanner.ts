/**
 * Scans lines of observations as bytes, to recognize lines that differ only in their instant and
 * numbers. Most lines of a file are such: each entity is observed many times.
 */
import { ROUNDED_NUMBER_MIN } from "../../core/rounded-numbers.ts";
import { CANONICAL_FORM } from "../../core/time.ts";

/** Longer lines are not scanned. */
const SCANNED_MAX_BYTES = 2048;
const NUMBERS_MAX = 10;

const INSTANT_LENGTH = CANONICAL_FORM.length;
const INSTANT_NAME = Buffer.from('"observedAt":');

const [NEWLINE, QUOTE, BACKSLASH] = [0x0a, 0x22, 0x5c];
const [COLON, COMMA, SPACE] = [0x3a, 0x2c, 0x20];
const [OPENING_BRACE, CLOSING_BRACE] = [0x7b, 0x7d];
const [ZERO, NINE] = [0x30, 0x39];

/** Creates a scanner, which keeps the template and the numbers of the line that it scanned last. */
export function createLineScanner() {
  const words = new Int32Array(SCANNED_MAX_BYTES / Int32Array.BYTES_PER_ELEMENT + 1);
  const template = new Uint8Array(words.buffer);
  const numbers = new Float64Array(NUMBERS_MAX);
  const scanned = { end: 0, instantStart: 0, wordCount: 0, numbers, words };

  /**
   * Scans the line from an index on. Returns nothing if it must be parsed. Variables of the function
   * are faster than those of a closure: parsing took 0.5 s instead of 1.0 s.
   */
  return function scan(bytes: Uint8Array, start: number): typeof scanned | undefined {
    if (bytes[start] !== OPENING_BRACE) return undefined;
    const maxEnd = start + SCANNED_MAX_BYTES;
    let instantStart = -1;
    let isInString = false;
    let length = 0;
    let numberCount = 0;
    let index = start;
    for (; index < maxEnd; index++) {
      const byte = bytes[index] ?? NEWLINE;
      if (byte === NEWLINE) break;
      template[length++] = byte;
      if (byte === QUOTE) {
        isInString = !isInString;
        // The template has the observed instant as the empty string.
        if (isInString && instantStart === -1 && isObservedInstant(bytes, index + 1)) {
          instantStart = index + 1;
          index += INSTANT_LENGTH;
        }
      } else if (isInString) {
        if (byte !== BACKSLASH) continue;
        // The next byte may be an escaped quote. A line that ends here is no JSON: it is not kept.
        template[length++] = bytes[++index] ?? 0;
      } else if (byte >= ZERO && byte <= NINE) {
        // An integer that needs no check of a count; the template has its index.
        const before = bytes[index - 1];
        if (numberCount === NUMBERS_MAX || (before !== COLON && before !== SPACE)) return undefined;
        let value = byte - ZERO;
        let next = bytes[++index] ?? 0;
        if (value === 0 && next >= ZERO && next <= NINE) return undefined;
        for (; next >= ZERO && next <= NINE; next = bytes[++index] ?? 0) {
          value = value * 10 + next - ZERO;
        }
        if (next !== COMMA && next !== CLOSING_BRACE) return undefined;
        if (value >= ROUNDED_NUMBER_MIN) return undefined;
        index--;
        template[length - 1] = ZERO + numberCount;
        numbers[numberCount++] = value;
      }
    }
    if (isInString || instantStart === -1 || index >= maxEnd) return undefined;
    // The last word of the template ends with spaces.
    template.fill(SPACE, length, length + Int32Array.BYTES_PER_ELEMENT);
    scanned.end = index;
    scanned.instantStart = instantStart;
    scanned.wordCount = Math.ceil(length / Int32Array.BYTES_PER_ELEMENT);
    return scanned;
  };
}

/** Whether a string, from the index after its opening quote on, may be the observed instant. */
function isObservedInstant(bytes: Uint8Array, start: number): boolean {
  if (bytes[start + INSTANT_LENGTH] !== QUOTE) return false;
  const nameEnd = bytes[start - 2] === SPACE ? start - 2 : start - 1;
  const nameStart = nameEnd - INSTANT_NAME.length;
  for (let index = 0; index < INSTANT_NAME.length; index++) {
    if (bytes[nameStart + index] !== INSTANT_NAME[index]) return false;
  }
  return true;
}
