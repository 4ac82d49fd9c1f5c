/**
 * The layouts of points: which counts a chunk of a stored history has. Each chunk begins with a
 * header that names them by their numbers, so that it stays readable when its kind gets another
 * count, or loses one. A header is a whole number in base 32, whose bits are these numbers, and a dot.
 */

const COUNT_NUMBER_MAX = 29;
const HEADER_END = ".";

/** @param countNumbers The numbers of the counts, as `KINDS` of core declares them, ascending. */
export function createPointLayout(countNumbers: readonly number[]) {
  const bits = countNumbers.reduce((sum, number) => sum | (1 << number), 0);
  if (listBits(bits).join() === countNumbers.join()) {
    return { countNumbers, header: bits.toString(32) + HEADER_END };
  }
  throw new Error(
    `The numbers of counts must ascend from 0 to ${COUNT_NUMBER_MAX}, got ${countNumbers.join()}`,
  );
}

/** Parses the header at the beginning of a chunk; `undefined` if there is none. */
export function parsePointLayout(text: string) {
  const header = text.slice(0, text.indexOf(HEADER_END) + 1);
  const layout = createPointLayout(listBits(Number.parseInt(header, 32)));
  return layout.header === header ? layout : undefined;
}

function listBits(bits: number): number[] {
  const numbers = Array.from({ length: COUNT_NUMBER_MAX + 1 }, (_, number) => number);
  return numbers.filter((number) => (bits & (1 << number)) !== 0);
}
