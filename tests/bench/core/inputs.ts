/** Inputs of the benchmark of core: the same in each run. */

/** The number of inputs of functions that take less than a microsecond. */
export const CALLS = 5000;

const BASE64_URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

let state = 1;

/** A pseudo-random whole number from 0 to below `bound`. */
export function pick(bound: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return Math.floor((state / 2_147_483_647) * bound);
}

/** A list of values. */
export const createList = <Value>(length: number, create: (index: number) => Value): Value[] =>
  Array.from({ length }, (_, index) => create(index));

/** An identifier like those of shorts and channels. */
export const createId = (length: number): string =>
  createList(length, () => BASE64_URL[pick(64)] ?? "").join("");

/**
 * Calls a function with each input. It reads a character of each text, so that none is left to be
 * assembled later.
 */
export function callEach<Input>(inputs: readonly Input[], call: (input: Input) => unknown) {
  return () => {
    let sum = 0;
    for (const input of inputs) {
      const result = call(input);
      sum += typeof result === "string" ? result.charCodeAt(result.length - 1) : Number(result);
    }
    return sum;
  };
}
