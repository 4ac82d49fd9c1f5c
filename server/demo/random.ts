/** Random numbers and identifiers without state, so that any instant can be computed by itself. */

/** Hashes a name to a seed from 0 to 2^32 - 1 (FNV-1a over its UTF-16 units). */
export function hashSeed(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Draws a number from 0 to below 1 for an index, maybe negative (the finalizer of MurmurHash3). */
export function draw(seed: number, index: number): number {
  let hash = seed ^ Math.imul(index + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

export const drawBetween = (seed: number, index: number, low: number, high: number): number =>
  low + (high - low) * draw(seed, index);

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function generateIdentifier(name: string, length: number): string {
  // A second seed makes the identifiers differ for two names with the same first seed.
  const seeds = [hashSeed(name), hashSeed(`${name}/identifier`)];
  const draws = Array.from({ length }, (_, index) => draw(seeds[index % 2] ?? 0, index));
  return draws.map((drawn) => LETTERS.charAt(Math.floor(drawn * LETTERS.length))).join("");
}
