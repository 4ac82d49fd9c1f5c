/**
 * A naive model of estimates: rounding step, trend, projection and milestone of a count. The library
 * is compared with it.
 */

import { groupBy } from "./histories.ts";

/** A known count at an instant, in milliseconds since 1970 UTC. */
export interface ModelPoint {
  readonly at: number;
  readonly count: number;
}

const DAY = 86_400_000;

/** All numbers from 100 on with one digit other than 0. */
const MILESTONES = Array.from({ length: 15 }, (_, power) => 10 ** (power + 2)).flatMap((size) =>
  [1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => digit * size),
);

/** All counts that a source with three digits can tell, up to 10^10. */
const ROUNDED = [
  ...Array.from({ length: 1000 }, (_, count) => count),
  ...Array.from({ length: 7 }, (_, power) => 10 ** (power + 1)).flatMap((step) =>
    Array.from({ length: 900 }, (_, index) => (index + 100) * step),
  ),
];
const ROUNDED_INDEXES = new Map(ROUNDED.map((count, index) => [count, index]));

const getIndex = (count: number): number => ROUNDED_INDEXES.get(count) ?? NaN;

/** The next count that the source can tell. */
const getNext = (count: number): number => ROUNDED[getIndex(count) + 1] ?? NaN;

/** The step of the greatest count; 0 unless the counts look rounded. */
function findStep(counts: readonly number[]): number {
  const large = counts.filter((count) => count >= 1000);
  if (large.some((count) => !/^\d{3}0+$/.test(String(count)))) return 0;
  const different = new Set(large).size;
  const greatest = Math.max(0, ...large);
  if (different < 2 && greatest < 10_000) return 0;
  return 10 ** (String(greatest).length - 3);
}

/** A line by the normal equations, in days before the newest observation. */
function fitModelLine(points: readonly { readonly x: number; readonly y: number }[]) {
  const n = points.length;
  const sum = (get: (x: number, y: number) => number) =>
    points.reduce((total, { x, y }) => total + get(x, y), 0);
  const offset = points[0]?.y ?? 0;
  const [sx, sy] = [sum((x) => x), sum((_, y) => y - offset)];
  const [sxx, sxy] = [sum((x) => x * x), sum((x, y) => x * (y - offset))];
  const slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  const intercept = (sy - slope * sx) / n + offset;
  const meanY = sy / n + offset;
  const residuals = sum((x, y) => (y - intercept - slope * x) ** 2);
  const total = sum((_, y) => (y - meanY) ** 2);
  const variance = residuals / (n - 2);
  const deviation = sxx - (sx * sx) / n;
  const gains = points.slice(1).map(({ x, y }, index) => {
    const before = points[index] ?? { x: NaN, y: NaN };
    return { x: x - before.x, y: y - before.y };
  });
  return {
    n,
    slope,
    intercept,
    rSquared: total === 0 ? 0 : 1 - residuals / total,
    predictionError: Math.sqrt(variance + (variance * sxx) / n / deviation),
    length: Math.max(...points.map(({ x }) => x)) - Math.min(...points.map(({ x }) => x)),
    gainVariance:
      gains.reduce((squares, { x, y }) => squares + (y - slope * x) ** 2 / x, 0) / (n - 2),
  };
}

/** The quantile of Student's t at 97.5 %: bisection over its distribution, summed in small steps. */
function computeQuantile(degrees: number): number {
  const density = (t: number) => (1 + t ** 2 / degrees) ** (-(degrees + 1) / 2);
  const integrate = (from: number, to: number) => {
    const steps = 4000;
    const width = (to - from) / steps;
    let area = 0;
    for (let step = 0; step < steps; step++) area += density(from + (step + 0.5) * width) * width;
    return area;
  };
  // The whole area from 0, by t = tan(angle).
  let half = 0;
  for (let step = 0; step < 4000; step++) {
    const angle = ((step + 0.5) / 4000) * (Math.PI / 2);
    half += (density(Math.tan(angle)) / Math.cos(angle) ** 2) * (Math.PI / 2 / 4000);
  }
  let [low, high] = [0, 20];
  for (let round = 0; round < 40; round++) {
    const middle = (low + high) / 2;
    if (integrate(0, middle) < 0.95 * half) low = middle;
    else high = middle;
  }
  return low;
}

const quantiles = new Map<number, number>();

/** Student's t at 97.5 %. */
export function getModelQuantile(degrees: number): number {
  const quantile = quantiles.get(degrees) ?? computeQuantile(degrees);
  quantiles.set(degrees, quantile);
  return quantile;
}

/** Everything that is estimated of a count. The points are oldest first. */
export function modelEstimates(points: readonly ModelPoint[], newestAt: number) {
  const window = points.filter(({ at }) => newestAt - at <= 30 * DAY);
  const step = findStep(window.map(({ count }) => count));
  return {
    roundingStep: step === 0 ? null : step,
    milestone: modelMilestone(window),
    trend: modelTrend(window, newestAt, step),
    /** With a quantile that is multiplied by a factor. */
    project: (factor: number) => modelProjection(window, newestAt, step, factor),
  };
}

function modelMilestone(window: readonly ModelPoint[]) {
  const now = window.at(-1)?.count ?? 0;
  const passed = MILESTONES.filter((milestone) => milestone <= now).flatMap((milestone) => {
    const below = window.findIndex(({ count }) => count < milestone);
    if (below === -1) return [];
    const above = window.slice(below).find(({ count }) => count >= milestone);
    return above === undefined ? [] : [{ milestone, at: above.at }];
  });
  return passed.toSorted((a, b) => a.at - b.at || a.milestone - b.milestone).at(-1) ?? null;
}

/** The changes of a rounded count: when the true count crossed which boundary. */
function listModelChanges(window: readonly ModelPoint[], newestAt: number) {
  return window.flatMap((after, index) => {
    const before = window[index - 1];
    if (before === undefined || before.count === after.count) return [];
    const steps = Math.abs(getIndex(after.count) - getIndex(before.count));
    // The last of several boundaries was crossed in the last of as many parts of the time.
    const lastPart = (after.at - before.at) / steps;
    const x = (after.at - lastPart / 2 - newestAt) / DAY;
    return [{ x, y: after.count > before.count ? after.count : getNext(after.count) - 1 }];
  });
}

function fitModelChanges(window: readonly ModelPoint[], newestAt: number) {
  const changes = listModelChanges(window, newestAt);
  return changes.length < 4 ? null : fitModelLine(changes);
}

function modelTrend(window: readonly ModelPoint[], newestAt: number, step: number) {
  const newest = window.at(-1);
  if (step === 0 || newest?.at !== newestAt) return null;
  const line = fitModelChanges(window, newestAt);
  if (line === null) return null;
  const [least, greatest] = [newest.count, getNext(newest.count) - 1];
  const range = greatest + 1 - least;
  const weights = [1 / (line.predictionError ** 2 + 1e-12), 12 / range ** 2] as const;
  const sum = weights[0] + weights[1];
  const mean = (weights[0] * line.intercept + (weights[1] * (least + greatest)) / 2) / sum;
  return {
    estimate: Math.max(least, Math.min(greatest, mean)),
    perDay: line.slope,
    roundingStep: step,
    changes: line.n,
    standardError: Math.sqrt(1 / sum),
  };
}

function modelProjection(
  window: readonly ModelPoint[],
  newestAt: number,
  step: number,
  factor: number,
) {
  const newest = window.at(-1);
  const days = groupBy(window, ({ at }) => new Date(at).toISOString().slice(0, 10));
  if (newest?.at !== newestAt || days.size < 10) return null;
  const daily = Array.from(days.values(), (points) => points.at(-1) ?? newest);
  const line =
    step > 0
      ? fitModelChanges(window, newestAt)
      : fitModelLine(daily.map(({ at, count }) => ({ x: (at - newestAt) / DAY, y: count })));
  if (line === null) return null;
  const milestone = MILESTONES.find((number) => number > newest.count) ?? NaN;
  const future = (milestone - newest.count) / line.slope;
  if (future <= 0) return null;
  const variance = line.gainVariance * (1.2 / line.length + 1 / future);
  const error = factor * getModelQuantile(line.n - 2) * Math.sqrt(variance);
  const [low, high] = [line.slope - error, line.slope + error];
  const greatest = step > 0 ? getNext(newest.count) - 1 : newest.count;
  const [first, last] = [(milestone - greatest) / high, (milestone - newest.count) / low];
  if (low <= 0 || last > 5 * 365) return null;
  return {
    milestone,
    from: newestAt + first * DAY,
    to: newestAt + last * DAY,
    rSquared: line.rSquared,
  };
}
