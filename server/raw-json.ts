/** Creates, reads and writes values with parts that are JSON bytes already, such as histories. */

/** Stands for a raw part. No other text equals it, because a lone surrogate cannot be stored. */
const PLACEHOLDER = "\ud800";
const PLACEHOLDER_JSON = JSON.stringify(PLACEHOLDER);

/**
 * Collects raw parts while {@link stringifyToPieces} runs, which is synchronous. A replacer would
 * need no variable, but would make `JSON.stringify` several times slower.
 */
let currentParts: Uint8Array[] | undefined;

class RawJson {
  /** Public, so that tests can compare two values. */
  readonly bytes: Uint8Array;
  readonly #readParts: (() => Iterable<unknown>) | undefined;

  constructor(bytes: Uint8Array, readParts: (() => Iterable<unknown>) | undefined) {
    this.bytes = bytes;
    this.#readParts = readParts;
  }

  read(): unknown {
    return JSON.parse(new TextDecoder().decode(this.bytes));
  }

  readParts(): Iterable<unknown> {
    return this.#readParts?.() ?? [this.read()];
  }

  toJSON(): unknown {
    if (currentParts === undefined) return this.read();
    currentParts.push(this.bytes);
    return PLACEHOLDER;
  }
}

/**
 * Creates a value from its JSON in UTF-8. `JSON.stringify()` can write it, but only the functions
 * of this file can read it.
 *
 * @param readParts Reads a long list in parts: each part is such a value, with some of the items.
 */
export function createRawJson<Value>(bytes: Uint8Array, readParts?: () => Iterable<Value>): Value {
  return new RawJson(bytes, readParts) as Value;
}

export function readRawJson<Value>(value: Value): Value {
  return value instanceof RawJson ? (value.read() as Value) : value;
}

export function readRawParts<Value>(value: Value): Iterable<Value> {
  return value instanceof RawJson ? (value.readParts() as Iterable<Value>) : [value];
}

/** Writes a value as JSON, in pieces of text and raw parts. The value has no lone surrogates. */
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
