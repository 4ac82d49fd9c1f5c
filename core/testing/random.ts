/** Pseudo-random numbers that are the same in every run and on every runtime. */

/** Returns a whole number from 0 to below `max`. */
export type Random = (max: number) => number;

/** Creates a generator by the algorithm mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * max);
  };
}
