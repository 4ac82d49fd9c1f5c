/** JSON of which some parts are text already: what is long is written once, where it is read. */

/** Stands for a written part: no text has a lone surrogate, since none can be stored. */
const MARK = "\ud800";
const WRITTEN_MARK = JSON.stringify(MARK);

/** The written parts of the value that is being written now. */
let parts: string[] | undefined;

class WrittenJson {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toJSON(): unknown {
    if (parts === undefined) return JSON.parse(this.#text);
    parts.push(this.#text);
    return MARK;
  }
}

/** A value that is there as JSON: it can be a part of what is written, and nothing else. */
export function writtenJson<Value>(text: string): Value {
  return new WrittenJson(text) as Value;
}

/**
 * Writes a value as `JSON.stringify` does, its written parts as they are.
 *
 * @example
 * writeJson({ points: writtenJson("[1,2]") }); // '{"points":[1,2]}'
 */
export function writeJson(value: unknown): string {
  const found: string[] = [];
  parts = found;
  try {
    const [first = "", ...rest] = JSON.stringify(value).split(WRITTEN_MARK);
    return rest.reduce((text, piece, index) => `${text}${found[index]}${piece}`, first);
  } finally {
    parts = undefined;
  }
}
