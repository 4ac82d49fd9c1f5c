/**
 * Raw JSON: parts of a value that are JSON text already. The store encodes long histories to bytes
 * once, and responses contain those bytes as they are.
 */

/** Stands for a raw part. No other text equals it, because a lone surrogate cannot be stored. */
const PLACEHOLDER = "\ud800";
const PLACEHOLDER_JSON = JSON.stringify(PLACEHOLDER);

/**
 * Collects the raw parts while {@link stringifyToPieces} runs; it is synchronous. A replacer would
 * need no variable but makes `JSON.stringify` several times slower.
 */
let currentParts: Uint8Array[] | undefined;

class RawJson {
  /** Public, so that tests can compare two values. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toJSON(): unknown {
    if (currentParts === undefined) return JSON.parse(new TextDecoder().decode(this.bytes));
    currentParts.push(this.bytes);
    return PLACEHOLDER;
  }
}

/**
 * Creates a value from its JSON. It can only be written as JSON again, not read.
 *
 * @param bytes The JSON in UTF-8.
 */
export function createRawJson<Value>(bytes: Uint8Array): Value {
  return new RawJson(bytes) as Value;
}

/**
 * Writes a value like `JSON.stringify`, with its raw parts as they are.
 *
 * @param value A JSON value without lone surrogates.
 * @returns The pieces of the JSON in order: text, and the bytes of raw parts.
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
