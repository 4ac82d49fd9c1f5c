/** Changes of counts: since the start, in an hour or a day; the greatest and the least. */
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { isChangeRounding } from "./rounding.ts";

type Counts = readonly (number | null)[];

/** Subtracts the first known count. What is unknown stays so; per cent of 0 are unknown. */
export function computeChangesSinceStart(
  counts: Counts,
  { isPercent = false } = {},
): (number | null)[] {
  const base = counts.find((count) => count !== null);
  return counts.map((count) => {
    if (count === null || base === undefined || base === null) return null;
    if (!isPercent) return count - base;
    return base === 0 ? null : ((count - base) / base) * 100;
  });
}

/** Finds the last known change since the start. A step of the source's rounding is no change. */
export function findChangeSinceStart(
  counts: Counts,
  options: { readonly isPercent?: boolean } = {},
): number | null {
  if (isChangeRounding(counts)) return null;
  return computeChangesSinceStart(counts, options).findLast((change) => change !== null) ?? null;
}

/** An observed count, and its difference from the last known one before. */
export type CountChange = Readonly<{ observedAt: number }> &
  Readonly<Record<"count" | "change", number | null>>;

/** Sums the changes of buckets; `null` if none is known. */
export function sumChanges(changes: readonly Pick<CountChange, "change">[]): number | null {
  const known = changes.flatMap(({ change }) => change ?? []);
  return known.length === 0 ? null : known.reduce((sum, change) => sum + change, 0);
}

/** Finds how long before each observation its count was last known; `null` if it was not. */
function findTimesSinceKnown(observed: readonly CountChange[]): (number | null)[] {
  let knownAt: number | null = null;
  return observed.map(({ observedAt, count }) => {
    const time = knownAt === null ? null : observedAt - knownAt;
    if (count !== null) knownAt = observedAt;
    return time;
  });
}

/** Computes the growth since a count was last known: in an hour, unless the buckets are longer. */
export function computeRates(observed: readonly CountChange[], stepMs: number) {
  const [unit, unitMs] =
    stepMs < DAY_MS ? (["hour", HOUR_MS] as const) : (["day", DAY_MS] as const);
  const times = findTimesSinceKnown(observed);
  const rates = observed.map(({ change }, index) => {
    const timeMs = times[index] ?? 0;
    if (change === null || timeMs <= 0) return null;
    return Math.round((change / timeMs) * unitMs * 100) / 100;
  });
  return { unit, rates };
}

/** Picks the changes that belong to one bucket alone: after a gap, a change is that of many. */
export function pickBucketChanges(
  observed: readonly CountChange[],
  stepMs: number,
): (number | null)[] {
  const times = findTimesSinceKnown(observed);
  return observed.map(({ change }, index) =>
    (times[index] ?? Infinity) < 2 * stepMs ? change : null,
  );
}

/** Finds the positions of the greatest and the least value; `null` if none is known. */
export function findExtremes(values: Counts): { greatest: number; least: number } | null {
  let [greatest, least] = [-1, -1];
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    if (greatest === -1 || value > (values[greatest] ?? value)) greatest = index;
    if (least === -1 || value < (values[least] ?? value)) least = index;
  }
  return greatest === -1 ? null : { greatest, least };
}
