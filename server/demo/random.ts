/**
 * Chance without state: every "random" number is a pure function of a seed and an index, so that
 * any instant of the demo can be computed without the instants before it.
 */

/** A list that is never empty. */
export type NonEmptyArray<Value> = readonly [Value, ...Value[]];

/**
 * Makes a seed of a name (FNV-1a over its UTF-16 units).
 *
 * @returns A whole number from 0 to 2^32 - 1.
 */
export function hashSeed(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * Draws the number at a place of a seed's endless sequence (the finalizer of MurmurHash3).
 *
 * @param index A whole number, negative ones included.
 * @returns At least 0 and below 1, evenly spread.
 */
export function draw(seed: number, index: number): number {
  let hash = seed ^ Math.imul(index + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Draws from `low` (included) to `high` (not included). */
export function drawBetween(seed: number, index: number, low: number, high: number): number {
  return low + (high - low) * draw(seed, index);
}

/**
 * Draws from a bell curve of mean 0 and deviation 1, cut at 3.5: four even draws summed.
 *
 * @param index The draws at `index` to `index + 3` are used.
 */
export function drawNormal(seed: number, index: number): number {
  let sum = -2;
  for (let step = 0; step < 4; step++) sum += draw(seed, index + step);
  return sum * Math.sqrt(3);
}

/** Picks the value at a place of a list that repeats endlessly. */
export function pickAt<Value>(choices: NonEmptyArray<Value>, index: number): Value {
  return choices[index % choices.length] ?? choices[0];
}

/** Picks any value of a list. */
export function pickRandom<Value>(
  choices: NonEmptyArray<Value>,
  seed: number,
  index: number,
): Value {
  return pickAt(choices, Math.floor(draw(seed, index) * choices.length));
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Spells an identifier of letters and digits, the same one for the same name. */
export function generateIdentifier(name: string, length: number): string {
  const seed = hashSeed(name);
  // A second seed: two names that share the first one still get different identifiers.
  const otherSeed = hashSeed(`${name}/identifier`);
  let text = "";
  for (let index = 0; index < length; index++) {
    const activeSeed = index % 2 === 0 ? seed : otherSeed;
    text += LETTERS.charAt(Math.floor(draw(activeSeed, index) * LETTERS.length));
  }
  return text;
}

/**
 * A line that wanders between -1 and 1, straight between whole numbers.
 *
 * @param position Where on the line; its slope is never steeper than 2.
 */
export function valueNoise(seed: number, position: number): number {
  const index = Math.floor(position);
  const before = draw(seed, index);
  const after = draw(seed, index + 1);
  return 2 * (before + (after - before) * (position - index)) - 1;
}

/** The S-shaped curve from 0 to 1, which is 1/2 at 0. */
export function logistic(position: number): number {
  return 1 / (1 + Math.exp(-position));
}

const STEEPNESS = 40;

/**
 * A staircase that wanders between -1 and 1: one sudden rise or fall (a logistic) between each
 * two whole numbers, at a moment of its own.
 */
export function steppedNoise(seed: number, position: number): number {
  const index = Math.floor(position);
  const before = draw(seed, index);
  const after = draw(seed, index + 1);
  const moment = drawBetween(seed ^ 0x5bd1e995, index, 0.3, 0.7);
  const start = logistic(-moment * STEEPNESS);
  const end = logistic((1 - moment) * STEEPNESS);
  const progress = (logistic((position - index - moment) * STEEPNESS) - start) / (end - start);
  return 2 * (before + (after - before) * progress) - 1;
}
