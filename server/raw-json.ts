/** JSON of which some parts are text already: what is long is written once, where it is read. */

/** Stands for a written part: no text has a lone surrogate, since none can be stored. */
const PLACEHOLDER = "\ud800";
const PLACEHOLDER_JSON = JSON.stringify(PLACEHOLDER);

/** The written parts of the value that is being written now. */
let currentParts: Uint8Array[] | undefined;

class RawJson {
  /** Not private: what compares two of them has to see what they say. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toJSON(): unknown {
    if (currentParts === undefined) return JSON.parse(decodeUtf8(this.bytes));
    currentParts.push(this.bytes);
    return PLACEHOLDER;
  }
}

/** Decodes UTF-8; `core` has no `TextDecoder`. */
function decodeUtf8(bytes: Uint8Array): string {
  const escapes = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`);
  return decodeURIComponent(escapes.join(""));
}

/**
 * A value that is there as JSON: it can be a part of what is written, and nothing else.
 *
 * @param bytes Its JSON, in UTF-8.
 */
export function createRawJson<Value>(bytes: Uint8Array): Value {
  return new RawJson(bytes) as Value;
}

/**
 * Writes a value as `JSON.stringify` does, its written parts as they are.
 *
 * @param value What JSON has, with no lone surrogate in its texts: none can be stored.
 * @returns The pieces of the text, in their order: texts, and the written parts.
 *
 * @example
 * stringifyToPieces({ count: 2 }); // ['{"count":2}']
 */
export function stringifyToPieces(value: unknown): (string | Uint8Array)[] {
  if (value instanceof RawJson) return [value.bytes];
  const rawParts: Uint8Array[] = [];
  currentParts = rawParts;
  try {
    return JSON.stringify(value)
      .split(PLACEHOLDER_JSON)
      .flatMap((text, index) => {
        const part = rawParts[index];
        return part === undefined ? [text] : [text, part];
      });
  } finally {
    currentParts = undefined;
  }
}
