/**
 * Creates random observations from a seed, the same in every run and on every runtime. Many of them
 * contradict each other. Also has the clock of the suites, and the names of their entities.
 */
import { ENTITY_FIELDS, type EntityKind, type FieldType } from "../kinds.ts";
import { DAY_MS, formatInstant } from "../time.ts";

/** Returns a whole number from 0 to below `max`. */
type Random = (max: number) => number;

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

/** The clock of the suites, in milliseconds since 1970 UTC. No random observation is newer. */
export const NOW: number = Date.UTC(2026, 0, 31, 9, 30);

/** Names, some of which differ only in case, or sort differently by UTF-8 and by UTF-16. */
export const NAMES: Readonly<Record<"channels" | "users" | "posts", readonly string[]>> = {
  channels: ["UC1", "uc1", "Twin", "soup", "😀", "！", "é"],
  users: ["NASA", "nasa", "NaSa", "esa", "ESA", "J-a_x.A"],
  posts: [..."abcdefghijklmnoABCD", "p10", "p9", "é", "-"],
};

const TEXTS = [null, "", "a", "A", "soup ", 'quoted "text", <b>', "ﬀ\n🍲", "e\u0301", "é"];
const COUNTS = [null, null, 0, 1, 9, 10, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER];

const pick = <Value>(random: Random, values: readonly Value[]): Value | undefined =>
  values[random(values.length)];

/** An instant within the last 45 days or the next day: a publication may be scheduled. */
const pickInstant = (random: Random) => NOW - (random(46 * 3) - 3) * (DAY_MS / 3);

/** Creates random observations. The same seed gives the same observations. */
export function createObservations(
  seed: number,
  length: number,
  kinds: readonly EntityKind[],
): Record<string, unknown>[] {
  const pickKind = createRandom(seed);
  return Array.from({ length }, (_, index) => {
    const kind = pick(pickKind, kinds) ?? "user";
    // Each has a generator of its own, and draws its counts last: a new count changes nothing else.
    return createObservation(kind, createRandom(seed * length + index));
  });
}

function createObservation(kind: EntityKind, random: Random): Record<string, unknown> {
  const pickValue: Record<FieldType, () => unknown> = {
    identifier: () => undefined,
    text: () => pick(random, TEXTS),
    link: () => pick(random, [null, "https://example.com/a?b=c&d", "https://example.com/é"]),
    instant: () => pick(random, [null, formatInstant(pickInstant(random))]),
    boolean: () => pick(random, [null, true, false]),
  };
  const { attributes, counts } = ENTITY_FIELDS[kind];
  const observation: Record<string, unknown> = { kind };
  for (const [name, type] of Object.entries(attributes)) {
    if (random(2) === 0) observation[name] = pickValue[type]();
  }
  // Some observations are a minute older, within the same hour.
  const at = Math.min(NOW, pickInstant(random)) - (random(4) === 0 ? 60_000 : 0);
  Object.assign(observation, pickIdentifiers(kind, random), { observedAt: formatInstant(at) });
  for (const name of counts) {
    if (random(4) > 0) observation[name] = random(2) === 0 ? random(500) : pick(random, COUNTS);
  }
  return observation;
}

function pickIdentifiers(kind: EntityKind, random: Random) {
  switch (kind) {
    case "channel":
      return {
        id: pick(random, NAMES.channels),
        username: pick(random, [null, ...NAMES.channels]),
      };
    case "short":
      return { id: pick(random, NAMES.posts), channel: pick(random, NAMES.channels.slice(0, 3)) };
    case "user":
      return { username: pick(random, NAMES.users) };
    case "tweet":
      return { id: pick(random, NAMES.posts), username: pick(random, NAMES.users) };
  }
}
