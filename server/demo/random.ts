/**
 * Random numbers without state. Each is a function of a seed and an index, so that any instant of the
 * demo can be computed without the instants before it.
 */

/**
 * Hashes a name to a seed (FNV-1a over its UTF-16 units).
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
 * Draws the number at an index of a seed's sequence (the finalizer of MurmurHash3).
 *
 * @param index A whole number, negative ones included.
 * @returns A number from 0, included, to 1, excluded; uniformly distributed.
 */
export function draw(seed: number, index: number): number {
  let hash = seed ^ Math.imul(index + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Draws a number from `low`, included, to `high`, excluded. */
export function drawBetween(seed: number, index: number, low: number, high: number): number {
  return low + (high - low) * draw(seed, index);
}

/**
 * Draws from an approximate normal distribution, of mean 0 and deviation 1: the sum of four uniform
 * draws, which is never beyond 3.5.
 *
 * @param index The first of the four indexes that it uses.
 */
export function drawNormal(seed: number, index: number): number {
  let sum = -2;
  for (let step = 0; step < 4; step++) sum += draw(seed, index + step);
  return sum * Math.sqrt(3);
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Generates an identifier of letters and digits; the same name gives the same one. */
export function generateIdentifier(name: string, length: number): string {
  const seed = hashSeed(name);
  // A second seed makes the identifiers differ for two names with the same first seed.
  const otherSeed = hashSeed(`${name}/identifier`);
  let text = "";
  for (let index = 0; index < length; index++) {
    const activeSeed = index % 2 === 0 ? seed : otherSeed;
    text += LETTERS.charAt(Math.floor(draw(activeSeed, index) * LETTERS.length));
  }
  return text;
}

/**
 * Noise between -1 and 1, linear between whole positions.
 *
 * @param position The slope is 2 at most for each unit.
 */
export function valueNoise(seed: number, position: number): number {
  const index = Math.floor(position);
  const before = draw(seed, index);
  const after = draw(seed, index + 1);
  return 2 * (before + (after - before) * (position - index)) - 1;
}

/** The logistic function: it rises from 0 to 1, and is 1/2 at 0. */
export function logistic(position: number): number {
  return 1 / (1 + Math.exp(-position));
}

const STEEPNESS = 40;

/**
 * Noise between -1 and 1 in steps: between two whole positions it rises or falls once, along a
 * logistic function, at a random position.
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
