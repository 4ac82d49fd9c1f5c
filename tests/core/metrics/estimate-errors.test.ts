/**
 * How far trends and projections are from generated truths: true counts of 30 days and 5 years,
 * observed exactly or cut to three digits. METRIC_CASES=50000 prints the table for 500 truths of
 * each curve.
 */
import { describe, expect, test } from "bun:test";
import { computeProjection } from "../../../core/metrics/milestones.ts";
import { computeTrend } from "../../../core/metrics/trend.ts";
import { createRandom } from "../../../core/testing/random.ts";
import { HOUR_MS } from "../../../core/time.ts";
import {
  createTruth,
  CURVES,
  findTrueInstant,
  getInstant,
  NEWEST_HOUR,
  observeTruth,
} from "../../support/true-curves.ts";

const TRUTHS = Math.max(60, Math.floor(Number(process.env["METRIC_CASES"] ?? 0) / 100));
const NOW = getInstant(NEWEST_HOUR);

/** The shares of its size by which a truth grows in 30 days. */
const SHARES = [0.01, 0.03, 0.1, 0.3];

function findQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
}

function listTruths(curve: string) {
  return Array.from({ length: TRUTHS }, (_, seed) => {
    const random = createRandom(seed + 1);
    const size = 10 ** (4 + random(3000) / 1000);
    const monthlyShare = SHARES[random(SHARES.length)] ?? 0;
    return { random, truth: createTruth(random, curve, { size, monthlyShare }) };
  });
}

/** The errors of trends, in rounding steps; the middle of the step is the guess without a trend. */
function measureTrends(curve: string, stepHours: number) {
  const errors: number[] = [];
  const guesses: number[] = [];
  let near = 0;
  for (const { random, truth } of listTruths(curve)) {
    const points = observeTruth(random, truth, { stepHours, isRounded: true });
    const trend = computeTrend(points, NOW);
    if (trend === null) continue;
    const [now, told] = [truth[NEWEST_HOUR] ?? NaN, points.at(-1)?.count ?? NaN];
    const error = Math.abs(trend.estimate - now);
    errors.push(error / trend.roundingStep);
    guesses.push(Math.abs(told + trend.roundingStep / 2 - now) / trend.roundingStep);
    if (error <= 2 * trend.standardError) near++;
  }
  return {
    given: errors.length / TRUTHS,
    median: findQuantile(errors, 0.5),
    p95: findQuantile(errors, 0.95),
    guess: findQuantile(guesses, 0.5),
    "in 2 errors": near / errors.length,
  };
}

/** How often the true instant is in the projected range, and how long that is, over the time left. */
function measureProjections(curve: string, isRounded: boolean) {
  const lengths: number[] = [];
  let inside = 0;
  for (const { random, truth } of listTruths(curve)) {
    const points = observeTruth(random, truth, { stepHours: 24, isRounded });
    const projection = computeProjection(points, NOW);
    if (projection === null) continue;
    const { milestone, from, to } = projection;
    const reached = findTrueInstant(truth, milestone);
    // Truths are known by the hour.
    if (reached >= from - HOUR_MS && reached <= to + HOUR_MS) inside++;
    lengths.push((to - from) / ((from + to) / 2 - NOW));
  }
  return {
    given: lengths.length / TRUTHS,
    inside: inside / lengths.length,
    length: findQuantile(lengths, 0.5),
  };
}

const format = (figures: Readonly<Record<string, number>>): string =>
  Object.entries(figures)
    .map(([name, figure]) => `${name} ${figure.toFixed(2)}`.padEnd(name.length + 7))
    .join("");

const print = (...cells: readonly [string, string, Readonly<Record<string, number>>]): void =>
  void process.stderr.write(`${cells[0].padEnd(19)}${cells[1].padEnd(14)}${format(cells[2])}\n`);

const GROWING = Object.keys(CURVES).filter((curve) => curve !== "falling");

describe("computeTrend()", () => {
  test.each(Object.keys(CURVES))(
    "of counts cut to three digits, %s, is nearer than the middle of the step",
    (curve) => {
      for (const stepHours of [24, 6]) {
        const errors = measureTrends(curve, stepHours);
        print(curve, `each ${stepHours} h`, errors);
        expect(errors.given).toBeGreaterThan(0.8);
        expect(errors.median).toBeLessThan(errors.guess);
        expect(errors.p95).toBeLessThan(0.6);
        expect(errors["in 2 errors"]).toBeGreaterThan(0.8);
      }
    },
    60_000,
  );

  test("is null for exact counts", () => {
    for (const { random, truth } of listTruths("with noise")) {
      const points = observeTruth(random, truth, { stepHours: 24, isRounded: false });
      expect(computeTrend(points, NOW)).toBeNull();
    }
  });
});

describe("computeProjection()", () => {
  test.each(GROWING)(
    "of counts %s gives a range",
    (curve) => {
      for (const isRounded of [false, true]) {
        const figures = measureProjections(curve, isRounded);
        print(curve, isRounded ? "three digits" : "exact", figures);
        expect(figures.given).toBeGreaterThan(0.8);
        // The documents promise the range only for a pace that goes on.
        const isSteady = curve !== "slowing down" && curve !== "changing its pace";
        if (isSteady) expect(figures.inside).toBeGreaterThan(0.88);
      }
    },
    60_000,
  );

  test("is null for falling counts", () => {
    for (const isRounded of [false, true]) {
      expect(measureProjections("falling", isRounded).given).toBe(0);
    }
  });
});
