/** Metrics of single counts, and the names of all. */
import { describe, expect, test } from "bun:test";
import { METRICS } from "../../../core/metrics/catalog.ts";
import { findLastPointIndex, interpolateCount } from "../../../core/metrics/count-points.ts";
import { computeEngagement } from "../../../core/metrics/engagement.ts";
import {
  computeAgeHours,
  computeItemMetrics,
  computeOwnerEstimates,
  computeOwnerMetrics,
} from "../../../core/metrics/entity-metrics.ts";
import { computeCountGain, computeGainPercent, computeRate } from "../../../core/metrics/rates.ts";
import { roundMetric } from "../../../core/metrics/round.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";

describe("roundMetric()", () => {
  test.each([
    [0.12345, 0.1235],
    [-0.12345, -0.1234],
    [1 / 3, 0.3333],
    [-0.00001, 0],
    [-0, 0],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [NaN, null],
    [Infinity, null],
    [-Infinity, null],
  ])("of %p is %p", (value, rounded) => {
    expect(Object.is(roundMetric(value), rounded)).toBe(true);
  });
});

describe("METRICS", () => {
  test.each(["channel", "user"] as const)(
    "names what computeOwnerMetrics() has of a %s",
    (kind) => {
      expect(Object.keys(computeOwnerMetrics(kind, []))).toEqual(Object.keys(METRICS[kind]));
    },
  );

  test.each(["short", "tweet"] as const)("names what computeItemMetrics() has of a %s", (kind) => {
    const { metrics } = computeItemMetrics(kind, { publishedAt: 0, points: [] }, []);
    expect(Object.keys(metrics)).toEqual(Object.keys(METRICS[kind]));
    expect(new Set(Object.values(metrics))).toEqual(new Set([null]));
  });
});

test("computeOwnerEstimates() knows nothing of an entity without points", () => {
  expect(computeOwnerEstimates("channel", [])).toEqual({
    roundingStep: null,
    trend: null,
    projection: null,
    milestone: null,
  });
});

describe("computeCountGain()", () => {
  const compute = (pastAge: number, past = 200) =>
    computeCountGain(
      {
        newestAt: 10 * DAY_MS,
        points: [
          { at: 10 * DAY_MS - pastAge, count: past },
          { at: 10 * DAY_MS, count: 205 },
        ],
      },
      1,
    );

  test("looks back from N to 2N days, both included", () => {
    for (const age of [DAY_MS, 2 * DAY_MS]) expect(compute(age)).toEqual({ gain: 5, percent: 2.5 });
    for (const age of [DAY_MS - 1, 2 * DAY_MS + 1]) {
      expect(compute(age)).toEqual({ gain: null, percent: null });
    }
  });

  test("has no percentage of 0", () => {
    expect(compute(DAY_MS, 0)).toEqual({ gain: 205, percent: null });
    expect(computeGainPercent(-1, 3)).toBe(-33.3333);
    expect(computeGainPercent(null, 3)).toBeNull();
  });

  test("is unknown if the newest observation does not tell the count", () => {
    const points = [{ at: 0, count: 1 }];
    expect(computeCountGain({ newestAt: DAY_MS, points }, 1)).toEqual({
      gain: null,
      percent: null,
    });
  });
});

describe("computeRate()", () => {
  const compute = (window: "PerHour" | "PerDay", ...ages: readonly number[]) =>
    computeRate(
      {
        newestAt: 10 * DAY_MS,
        points: [
          ...ages.map((hours, index) => ({ at: 10 * DAY_MS - hours * HOUR_MS, count: 10 + index })),
          { at: 10 * DAY_MS, count: 40 },
        ],
      },
      window,
    );

  test("compares with the newest count of its window, over the time between", () => {
    expect(compute("PerHour", 24)).toBe(1.25);
    expect(compute("PerHour", 24, 1)).toBe(29);
    expect(compute("PerHour", 24, 3, 0.5)).toBe(9.6667);
    expect(compute("PerDay", 168)).toBe(4.2857);
    expect(compute("PerDay", 48, 24)).toBe(29);
  });

  test("is null if the newest observation does not tell the count", () => {
    const points = [{ at: 0, count: 1 }];
    expect(computeRate({ newestAt: 2 * HOUR_MS, points }, "PerHour")).toBeNull();
  });

  test("is null without a count in its window", () => {
    expect(compute("PerHour")).toBeNull();
    expect(compute("PerHour", 24.01, 0.99)).toBeNull();
    expect(compute("PerDay", 168.01, 23.99)).toBeNull();
  });
});

test("computeEngagement() is null if a count is unknown, or there are no views", () => {
  expect(computeEngagement([5, 1, 0], 90)).toBe(0.0667);
  expect(computeEngagement([0], 90)).toBe(0);
  expect(computeEngagement([5, null], 90)).toBeNull();
  expect(computeEngagement([5], null)).toBeNull();
  expect(computeEngagement([5], 0)).toBeNull();
});

test("computeAgeHours() is null before the publication", () => {
  const points = [{ at: 0, counts: [] }];
  expect(computeAgeHours({ publishedAt: 0, points })).toBe(0);
  expect(computeAgeHours({ publishedAt: 1, points })).toBeNull();
  expect(computeAgeHours({ publishedAt: -100_000, points })).toBe(0.0278);
});

test("findLastPointIndex() and interpolateCount() find the points around an instant", () => {
  const points = [10, 20, 30].map((at) => ({ at, count: at * 2 }));
  const instants = [9, 10, 11, 19, 20, 29, 30, 31];
  expect(instants.map((at) => findLastPointIndex(points, at))).toEqual([-1, 0, 0, 0, 1, 1, 2, 2]);
  expect(instants.map((at) => interpolateCount(points, at))).toEqual(
    instants.map((at) => (at < 10 || at > 30 ? null : at * 2)),
  );
});
