import { describe, expect, test } from "bun:test";
import { computePaceRange, fitLine, predictValue } from "../../../core/metrics/line.ts";
import {
  computeProjection,
  findLastMilestone,
  findNextMilestone,
  findPassedMilestone,
} from "../../../core/metrics/milestones.ts";
import { computeTrend, listChanges } from "../../../core/metrics/trend.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { getModelQuantile } from "../../model/estimates.ts";

const createPoints = (counts: readonly number[], stepMs = DAY_MS) =>
  counts.map((count, index) => ({ at: index * stepMs, count }));

/** Counts that grow by a number a day. */
const grow = (start: number, perDay: number, days: number) =>
  createPoints(Array.from({ length: days }, (_, day) => start + day * perDay));

describe("fitLine()", () => {
  const points = [2, 4, 5, 4, 5].map((y, index) => ({ x: index + 1, y }));

  test("is the line of least squares", () => {
    // Worked by hand: slope 6 / 10, residuals 2.4.
    const line = fitLine(points);
    expect(line?.slope).toBeCloseTo(0.6, 12);
    expect([line?.meanX, line?.meanY]).toEqual([3, 4]);
    expect(line?.variance).toBeCloseTo(0.8, 12);
    expect(line?.rSquared).toBeCloseTo(0.6, 12);
    // The gains are 2, 1, -1 and 1: 1.4² + 0.4² + 1.6² + 0.4² = 4.84.
    expect(line?.gainVariance).toBeCloseTo(4.84 / 3, 12);
    if (line === null) throw new Error("There is no line");
    const { value, standardError } = predictValue(line, 6);
    expect(value).toBeCloseTo(5.8, 12);
    expect(standardError ** 2).toBeCloseTo(0.8 * (1 + 1 / 5 + 9 / 10), 12);
    const { low, high } = computePaceRange(line, 3);
    expect((low + high) / 2).toBeCloseTo(0.6, 12);
    // The rise takes 5.
    const error = Math.sqrt((4.84 / 3) * (1.2 / 4 + 1 / 5));
    expect((high - low) / 2 / error).toBeCloseTo(3.1824, 1);
  });

  test("explains nothing of equal values", () => {
    const flat = points.map(({ x }) => ({ x, y: 5 }));
    expect(fitLine(flat)).toMatchObject({ slope: 0, rSquared: 0, variance: 0, gainVariance: 0 });
  });

  test("is null with fewer than three points", () => {
    expect(fitLine(points.slice(0, 3))?.slope).toBeCloseTo(1.5, 12);
    expect(fitLine(points.slice(0, 2))).toBeNull();
    expect(fitLine([])).toBeNull();
  });
});

test.each([2, 3, 4, 5, 8, 10, 28, 100])(
  "computePaceRange() has Student's t of %d degrees of freedom, to 1 %%",
  (degrees) => {
    const line = { slope: 1, meanX: 0, meanY: 0, rSquared: 1, variance: 0, squaresX: 1 };
    const range = computePaceRange(
      { ...line, size: degrees + 2, length: 1.2, gainVariance: 1 },
      1e9,
    );
    const ratio = (range.high - 1) / getModelQuantile(degrees);
    expect(ratio).toBeGreaterThan(0.99);
    expect(ratio).toBeLessThan(1.001);
  },
);

describe("listChanges()", () => {
  test("of a rise is at the count, of a fall just below the next step", () => {
    expect(listChanges(createPoints([1230, 1240, 1240, 1230], 10))).toEqual([
      { x: 5, y: 1240 },
      { x: 25, y: 1239 },
    ]);
  });

  test("of several steps is in the last one's share of the time", () => {
    expect(listChanges(createPoints([998_000, 1_010_000], 60))).toEqual([{ x: 50, y: 1_010_000 }]);
    expect(listChanges(createPoints([1_010_000, 998_000], 60))).toEqual([{ x: 50, y: 998_999 }]);
  });
});

describe("computeTrend()", () => {
  const rounded = createPoints([50_000, 50_100, 50_200, 50_300, 50_400]);
  const newestAt = 4 * DAY_MS;

  test("needs four changes", () => {
    expect(computeTrend(rounded, newestAt)).toEqual({
      estimate: 50_450,
      perDay: 100,
      roundingStep: 100,
      changes: 4,
      standardError: 0,
    });
    expect(computeTrend(rounded.slice(1), newestAt)).toBeNull();
  });

  test("needs rounded counts, and that the newest observation tells the count", () => {
    expect(
      computeTrend([...rounded.slice(0, 4), { at: newestAt, count: 50_401 }], newestAt),
    ).toBeNull();
    expect(computeTrend(rounded, newestAt + 1)).toBeNull();
    expect(computeTrend([], newestAt)).toBeNull();
  });

  test("takes the changes of the last 30 days", () => {
    const old = [{ at: newestAt - 30 * DAY_MS - 1, count: 40_000 }];
    expect(computeTrend([...old, ...rounded], newestAt)).toEqual(computeTrend(rounded, newestAt));
  });

  test("stays within what the rounded count allows", () => {
    // It grew by a step each day, and then not for ten days.
    const stopped = [...rounded, { at: 14 * DAY_MS, count: 50_400 }];
    expect(computeTrend(stopped, 14 * DAY_MS)?.estimate).toBe(50_499);
    const falling = createPoints([50_400, 50_300, 50_200, 50_100, 50_000]);
    expect(computeTrend(falling, newestAt)?.perDay).toBe(-100);
    expect(computeTrend(falling, newestAt)?.estimate).toBe(50_049);
  });
});

describe("milestones", () => {
  test.each([
    [0, 0, 100],
    [99, 0, 100],
    [100, 100, 200],
    [999, 900, 1000],
    [1000, 1000, 2000],
    [6_999_999, 6_000_000, 7_000_000],
    [9_000_000, 9_000_000, 10_000_000],
  ])(
    "of %d are %d, from findLastMilestone(), and %d, from findNextMilestone()",
    (count, last, next) => {
      expect([findLastMilestone(count), findNextMilestone(count)]).toEqual([last, next]);
    },
  );

  test("findPassedMilestone() is the last one, at the first observation above it", () => {
    const find = (counts: readonly number[]) => findPassedMilestone(createPoints(counts, 1), 9);
    expect(find([950, 1001, 1500])).toEqual({ milestone: 1000, at: 1 });
    expect(find([950, 1000])).toEqual({ milestone: 1000, at: 1 });
    expect(find([950, 2100])).toEqual({ milestone: 2000, at: 1 });
    expect(find([1001, 1500])).toBeNull();
    // There and back again: the first time counts.
    expect(find([990, 1010, 990, 1010])).toEqual({ milestone: 1000, at: 1 });
    // What was lost again is not passed.
    expect(find([950, 2100, 1500])).toEqual({ milestone: 1000, at: 1 });
    expect(find([990, 1010, 990])).toBeNull();
    // It had passed 2,000 first, and 1,000 last.
    expect(find([1990, 2010, 900, 1010])).toEqual({ milestone: 1000, at: 3 });
    expect(find([])).toBeNull();
  });

  test("findPassedMilestone() looks back 30 days", () => {
    const points = [
      { at: 0, count: 990 },
      { at: DAY_MS, count: 1010 },
    ];
    expect(findPassedMilestone(points, 30 * DAY_MS)).toEqual({ milestone: 1000, at: DAY_MS });
    expect(findPassedMilestone(points, 30 * DAY_MS + 1)).toBeNull();
  });
});

describe("computeProjection()", () => {
  test("of counts on a line is one instant", () => {
    // 7,000 comes 10 / 7 days after the last of 20 points.
    const projection = computeProjection(grow(6857, 7, 20), 19 * DAY_MS);
    expect(projection?.milestone).toBe(7000);
    const days = [projection?.from, projection?.to].map((at) => ((at ?? 0) - 19 * DAY_MS) / DAY_MS);
    for (const day of days) expect(day).toBeCloseTo(10 / 7, 6);
  });

  test("of rounded counts has the time that the rounding hides", () => {
    const points = grow(65_000, 100, 20);
    const projection = computeProjection(points, 19 * DAY_MS);
    expect(projection?.milestone).toBe(70_000);
    // At 66,900 to 66,999, and 100 a day.
    expect(((projection?.from ?? 0) - 19 * DAY_MS) / DAY_MS).toBeCloseTo(30.01, 6);
    expect(((projection?.to ?? 0) - 19 * DAY_MS) / DAY_MS).toBeCloseTo(31, 6);
  });

  test("needs ten days, and that the newest observation tells the count", () => {
    const points = grow(6857, 7, 10);
    expect(computeProjection(points, 9 * DAY_MS)).not.toBeNull();
    expect(computeProjection(points.slice(1), 9 * DAY_MS)).toBeNull();
    expect(computeProjection(points, 9 * DAY_MS + 1)).toBeNull();
    // Twenty points of nine days.
    expect(
      computeProjection(
        createPoints(
          points.map(({ count }) => count),
          20 * HOUR_MS,
        ),
        180 * HOUR_MS,
      ),
    ).toBeNull();
  });

  test("is null without growth, for a poor fit, and beyond five years", () => {
    const noise = [0, 900, -900, 400, -700, 800, -200, 600, -900, 300, 0, 900];
    const scattered = createPoints(noise.map((error, day) => 6000 + day * 7 + error));
    for (const points of [grow(6857, 0, 20), grow(6857, -7, 20), scattered]) {
      expect(computeProjection(points, points.at(-1)?.at ?? 0)).toBeNull();
    }
    // 1,825 days at 1 a day, and at a little less.
    expect(computeProjection(grow(8156, 1, 20), 19 * DAY_MS)?.milestone).toBe(9000);
    expect(computeProjection(grow(78_156, 1, 20), 19 * DAY_MS)?.milestone).toBe(80_000);
    expect(computeProjection(grow(78_155, 1, 20), 19 * DAY_MS)).toBeNull();
  });
});
