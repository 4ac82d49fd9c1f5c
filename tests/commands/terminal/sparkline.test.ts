import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  formatSparkline,
  sampleCounts,
  sampleTimes,
} from "../../../server/commands/terminal/sparkline.ts";

describe("formatSparkline()", () => {
  test.each([
    [[1, 2, 3, 4, 5, 6, 7, 8], "▁▂▃▄▅▆▇█"],
    [[8, null, 1], "█ ▁"],
    [[5, 5, 5], "▄▄▄"],
    [[null, null], "  "],
    [[0, Number.MAX_SAFE_INTEGER], "▁█"],
    [[], ""],
  ])("draws %j", (counts, line) => {
    expect(formatSparkline(counts)).toBe(line);
  });

  test("has a block for each known count, the lowest and the highest at the extremes", () => {
    const counts = fc.array(fc.option(fc.maxSafeNat()), { maxLength: 50 });
    fc.assert(
      fc.property(counts, (values) => {
        const line = formatSparkline(values);
        expect(line).toHaveLength(values.length);
        for (const [index, value] of values.entries())
          expect(line[index] === " ").toBe(value === null);
        const known = values.filter((value) => value !== null);
        if (new Set(known).size < 2) return;
        expect(line[values.indexOf(Math.min(...known))]).toBe("▁");
        expect(line[values.indexOf(Math.max(...known))]).toBe("█");
      }),
    );
  });
});

test("sampleCounts() takes the last known count of each part", () => {
  expect(sampleCounts([1, 2, null, 4], 2)).toEqual([2, 4]);
  expect(sampleCounts([1, null, null, null], 2)).toEqual([1, null]);
  expect(sampleCounts([1, 2], 5)).toEqual([1, 2]);
  expect(sampleCounts([], 5)).toEqual([]);
});

describe("sampleTimes()", () => {
  const DAY = 86_400_000;

  test("has a part for each step, with null for those without a point", () => {
    const points = [1, 2, 5].map((day) => ({ at: day * DAY, count: day }));
    expect(sampleTimes(points, DAY, 60)).toEqual([1, 2, null, null, 5]);
  });

  test("has a part for each month", () => {
    const points = Array.from({ length: 24 }, (_, month) => ({
      at: Date.UTC(2024, month),
      count: month,
    }));
    expect(sampleTimes(points, 30.436875 * DAY, 60)).toEqual(points.map(({ count }) => count));
  });

  test("divides a longer time, and points without a step, into equal parts", () => {
    const points = [0, 1, 50, 99].map((at) => ({ at, count: at }));
    expect(sampleTimes(points, 0, 4)).toEqual([1, null, 50, 99]);
    expect(sampleTimes(points, 1, 4)).toEqual([1, null, 50, 99]);
    expect(sampleTimes([{ at: 7, count: 3 }], 0, 60)).toEqual([3]);
    expect(sampleTimes([], DAY, 60)).toEqual([]);
  });
});
