/** Curves of true counts, and what a source tells of them: for the errors of estimates. */
import { createRandom } from "../../core/testing/random.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import type { CountPoint } from "../../core/metrics/count-points.ts";
import { NOW } from "./arbitraries/values.ts";

type Random = ReturnType<typeof createRandom>;

/** The true counts of an entity, by the hour since 30 days before the newest observation. */
export type TrueCounts = Float64Array;

const HOURS_BEFORE = 30 * 24;
/** How far the truth is known: 5 years. */
const HOURS_AFTER = 5 * 365 * 24;

/** The hours that a truth has before its newest observation. */
export const NEWEST_HOUR = HOURS_BEFORE;

/** A number between 0 and 1. */
const draw = (random: Random): number => random(1_000_000) / 1_000_000;

/** A normally distributed number, by the Box-Muller transform. */
const drawNormal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - draw(random))) * Math.cos(2 * Math.PI * draw(random));

/** The growth of an hour, in counts, at the pace of `perHour` at the newest observation. */
type Growth = (hour: number, perHour: number, random: Random) => number;

/** The day of the week of an hour, 0 to 6. */
const getDay = (hour: number): number => ((Math.floor(hour / 24) % 7) + 7) % 7;

/** How the pace changes over time. `steady` is what projections assume; the others are not. */
export const CURVES: Readonly<Record<string, () => Growth>> = {
  steady: () => (_, perHour) => perHour,
  "with noise": () => (_, perHour, random) => perHour * (1 + 3 * drawNormal(random)),
  "by day and week": () => (hour, perHour) =>
    perHour * (1 + Math.sin((hour * Math.PI) / 12)) * (getDay(hour) > 4 ? 1.6 : 0.76),
  "slowing down": () => (hour, perHour) => perHour * 0.5 ** (hour / (365 * 24)),
  "changing its pace": () => {
    // A random walk of the pace itself, 5 % a day: an error of one day stays in all later ones.
    let factor = 1;
    return (_, perHour, random) => {
      factor = Math.min(5, Math.max(0, factor + (0.05 / Math.sqrt(24)) * drawNormal(random)));
      return perHour * factor;
    };
  },
  falling: () => (_, perHour) => -perHour,
};

/**
 * Creates the true counts of an entity that has `size` at the newest observation, and grows by
 * `monthlyShare` of that in 30 days.
 */
export function createTruth(
  random: Random,
  curve: string,
  { size, monthlyShare }: { readonly size: number; readonly monthlyShare: number },
): TrueCounts {
  const grow = CURVES[curve]?.();
  if (grow === undefined) throw new Error(`There is no curve ${curve}`);
  const perHour = (size * monthlyShare) / HOURS_BEFORE;
  const truth = new Float64Array(HOURS_BEFORE + HOURS_AFTER + 1);
  let count = 0;
  for (let hour = 0; hour < truth.length; hour++) {
    truth[hour] = count;
    count += grow(hour - HOURS_BEFORE, perHour, random);
  }
  const offset = size - (truth[HOURS_BEFORE] ?? 0);
  return truth.map((value) => Math.max(0, value + offset));
}

/** What a source tells of a truth up to the newest observation: each `stepHours`, cut or exact. */
export function observeTruth(
  random: Random,
  truth: TrueCounts,
  { stepHours, isRounded }: { readonly stepHours: number; readonly isRounded: boolean },
): CountPoint[] {
  const points: CountPoint[] = [];
  for (let hour = HOURS_BEFORE % stepHours; hour <= HOURS_BEFORE; hour += stepHours) {
    // 1 observation in 30 is missing, but for the newest.
    if (hour < HOURS_BEFORE && random(30) === 0) continue;
    const count = Math.floor(truth[hour] ?? 0);
    const step = isRounded ? 10 ** Math.max(0, String(count).length - 3) : 1;
    points.push({ at: getInstant(hour), count: Math.floor(count / step) * step });
  }
  return points;
}

/** The instant of an hour of a truth. */
export const getInstant = (hour: number): number =>
  Math.floor(NOW / DAY_MS) * DAY_MS + (hour - HOURS_BEFORE) * HOUR_MS + 12 * HOUR_MS;

/** When a truth reaches a count after the newest observation; Infinity if later than 5 years. */
export function findTrueInstant(truth: TrueCounts, count: number): number {
  for (let hour = HOURS_BEFORE + 1; hour < truth.length; hour++) {
    const [before, after] = [truth[hour - 1] ?? 0, truth[hour] ?? 0];
    if (after < count) continue;
    const share = after === before ? 1 : (count - before) / (after - before);
    return getInstant(hour - 1) + Math.max(0, share) * HOUR_MS;
  }
  return Infinity;
}
