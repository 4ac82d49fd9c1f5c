/** Random histories of counts: with gaps, falls, rounding, unknown counts and equal instants. */
import { ENTITY_FIELDS, type EntityKind } from "../../core/kinds.ts";
import { createRandom } from "../../core/testing/random.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { ModelItem, ModelObservation } from "../model/metrics.ts";
import { NOW } from "./arbitraries/values.ts";

type Random = ReturnType<typeof createRandom>;

/** Times between observations: many are exactly the windows of metrics. */
const STEPS = [
  MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  DAY_MS,
  DAY_MS,
  DAY_MS,
  2 * DAY_MS,
  7 * DAY_MS,
  30 * DAY_MS,
];

/** How a count grows by each observation: as a share of it, and at most by a fixed number. */
const PACES = [0, 0, 0.0005, 0.003, 0.01, 0.01, 0.2, -0.002];

const cutToThreeDigits = (count: number): number => {
  const step = 10 ** Math.max(0, String(count).length - 3);
  return Math.floor(count / step) * step;
};

/** Creates a function that returns the next value of a random count. */
function createCounter(random: Random): () => number | null {
  const pick = <Value>(values: readonly [Value, ...Value[]]) =>
    values[random(values.length)] ?? values[0];
  let count = random(10) === 0 ? 0 : Math.floor(10 ** (random(900) / 100));
  const pace = PACES[random(PACES.length)] ?? 0;
  const isRounded = random(3) === 0;
  const noise = random(3) === 0 ? random(20) : 0;
  const unknownShare = pick([0, 0, 0, 5, 50]);
  return () => {
    const fall = random(40) === 0 ? count * 0.05 : 0;
    count = Math.max(0, Math.round(count * (1 + pace) + random(2) - fall + random(noise + 1)));
    count = Math.min(count, 9_000_000_000);
    if (random(100) < unknownShare) return null;
    return isRounded ? cutToThreeDigits(count) : count;
  };
}

function shuffle<Value>(random: Random, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, order: random(1_000_000) }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ value }) => value);
}

/** Creates random observations of one entity, in any order, at least one. */
export function createRandomHistory(
  random: Random,
  kind: EntityKind,
  { start = NOW, maxSize = 40, steps = STEPS } = {},
): ModelObservation[] {
  const counters = ENTITY_FIELDS[kind].counts.map((name) => [name, createCounter(random)] as const);
  const observations: ModelObservation[] = [];
  const size = 1 + random(maxSize);
  const usualStep = steps[random(steps.length)] ?? DAY_MS;
  let observedAt = start;
  while (observations.length < size) {
    const counts = Object.fromEntries(counters.map(([name, next]) => [name, next()]));
    observations.push({ observedAt, counts });
    const isSameInstant = random(20) === 0;
    const step = random(3) === 0 ? (steps[random(steps.length)] ?? DAY_MS) : usualStep;
    const jitter = random(3) === 0 ? random(2 * HOUR_MS) : 0;
    if (!isSameInstant) observedAt += step + jitter;
  }
  return shuffle(random, observations);
}

/** Creates the items of a random creator: some at one instant, few with the same history. */
export function createRandomItems(random: Random, kind: "short" | "tweet"): ModelItem[] {
  const size = random(10) === 0 ? 90 + random(30) : 1 + random(12);
  const items: ModelItem[] = [];
  let publishedAt = NOW;
  for (let index = 0; index < size; index++) {
    if (random(6) > 0) publishedAt += random(3 * DAY_MS);
    // Some are observed before they are published.
    const delay = [0, 0, HOUR_MS, random(DAY_MS), -HOUR_MS][random(5)] ?? 0;
    const observations = createRandomHistory(random, kind, {
      start: publishedAt + delay,
      maxSize: 12,
    });
    items.push({ id: `${random(1000)}-${index}`, publishedAt, observations });
  }
  return shuffle(random, items);
}
