/** JSON of which some parts are text already: what is long is written once, where it is read. */

/** Stands for a written part: no text has a lone surrogate, since none can be stored. */
const MARK = "\ud800";
const WRITTEN_MARK = JSON.stringify(MARK);

/** The written parts of the value that is being written now. */
let parts: Uint8Array[] | undefined;

class WrittenJson {
  /** Not private: what compares two of them has to see what they say. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toJSON(): unknown {
    if (parts === undefined) return JSON.parse(textOf(this.bytes));
    parts.push(this.bytes);
    return MARK;
  }
}

/** Decodes UTF-8; `core` has no `TextDecoder`. */
function textOf(bytes: Uint8Array): string {
  const escapes = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`);
  return decodeURIComponent(escapes.join(""));
}

/**
 * A value that is there as JSON: it can be a part of what is written, and nothing else.
 *
 * @param bytes Its JSON, in UTF-8.
 */
export function writtenJson<Value>(bytes: Uint8Array): Value {
  return new WrittenJson(bytes) as Value;
}

/**
 * Writes a value as `JSON.stringify` does, its written parts as they are.
 *
 * @param value What JSON has, with no lone surrogate in its texts: none can be stored.
 * @returns The pieces of the text, in their order: texts, and the written parts.
 *
 * @example
 * jsonPieces({ count: 2 }); // ['{"count":2}']
 */
export function jsonPieces(value: unknown): (string | Uint8Array)[] {
  if (value instanceof WrittenJson) return [value.bytes];
  const found: Uint8Array[] = [];
  parts = found;
  try {
    return JSON.stringify(value)
      .split(WRITTEN_MARK)
      .flatMap((text, index) => {
        const part = found[index];
        return part === undefined ? [text] : [text, part];
      });
  } finally {
    parts = undefined;
  }
}
