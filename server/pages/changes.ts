/** Computes changes of counts, their rates and extremes, and the least heights of their charts. */
import { findRoundingStep, isChangeRounding } from "../../core/metrics/rounded-counts.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import type { Measure } from "./format.ts";

type Counts = readonly (number | null)[];

/** Subtracts the first known count. Returns `null` for unknown counts and percentages of 0. */
export function computeChangesSinceStart(counts: Counts, { isPercent = false } = {}): Counts {
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

export type CountChange = Readonly<{ observedAt: number }> &
  Readonly<Record<"count" | "change", number | null>>;

export function sumChanges(changes: readonly Pick<CountChange, "change">[]): number | null {
  const known = changes.flatMap(({ change }) => change ?? []);
  return known.length === 0 ? null : known.reduce((sum, change) => sum + change, 0);
}

/** Finds the time from the last known count to each observation; `null` without such a count. */
function findTimesSinceKnown(observed: readonly CountChange[]): (number | null)[] {
  let knownAt: number | null = null;
  return observed.map(({ observedAt, count }) => {
    const time = knownAt === null ? null : observedAt - knownAt;
    if (count !== null) knownAt = observedAt;
    return time;
  });
}

/** Computes the growth since the last known count: per day, or per hour if buckets are shorter. */
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

/** Picks the changes of single buckets: after a gap, a change belongs to several buckets. */
export function pickBucketChanges(observed: readonly CountChange[], stepMs: number): Counts {
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

/** The least height of a chart of rounded counts, in steps: then a step does not look large. */
export const LEAST_STEPS = 5;

/** Finds the least height of a chart: the greatest that any of its changing counts needs. */
export function findLeastSpan(compared: readonly Counts[], measure: Measure): number | undefined {
  const spans = compared.flatMap((counts) => {
    const known = counts.filter((count) => count !== null);
    const [base = 0] = known;
    const span = findRoundingStep(known) * LEAST_STEPS;
    if (span === 0 || known.every((count) => count === base)) return [];
    if (measure !== "percent") return [span];
    return base === 0 ? [] : [(span / base) * 100];
  });
  return spans.length === 0 ? undefined : Math.max(...spans);
}
