import { expect, test } from "bun:test";
import {
  countRoundingSteps,
  findRoundingStep,
  getRoundingStep,
  isChangeRounding,
  isRoundingStep,
} from "../../../core/metrics/rounded-counts.ts";

test.each([
  [0, 1],
  [999, 1],
  [1000, 10],
  [1_230_000, 10_000],
  [9_990_000, 10_000],
  [Number.MAX_SAFE_INTEGER, 10 ** 13],
])("getRoundingStep() of %d is %d", (count, step) => {
  expect(getRoundingStep(count)).toBe(step);
});

test.each([
  [5, 5, 0],
  [5, 9, 4],
  [999, 1000, 1],
  [990, 1010, 11],
  [998_000, 1_010_000, 3],
  [1_010_000, 998_000, -3],
  [1000, 10_000, 900],
])("countRoundingSteps() from %d to %d are %d", (from, to, steps) => {
  expect(countRoundingSteps(from, to)).toBe(steps);
});

test.each([
  [[1_230_000], 10_000],
  [[12_300], 100],
  [[10_000], 100],
  [[1000, 2000], 10],
  [[998_000, null, 1_000_000], 10_000],
  [[1500, 1510], 10],
  [[950, 1010, 1020], 10],
  // One count of four digits can be exact.
  [[1500], 0],
  [[1_230_000, 1_230_017], 0],
  [[950, 999], 0],
  [[0], 0],
  [[null], 0],
  [[], 0],
])("findRoundingStep() of %j is %d", (counts, step) => {
  expect(findRoundingStep(counts)).toBe(step);
});

test("findRoundingStep() takes a million different counts", () => {
  const counts = Array.from({ length: 1_000_000 }, (_, index) => 1_000_000 + index);
  expect(findRoundingStep(counts)).toBe(0);
});

test.each([
  [1_510_000, 10_000, true],
  [1_500_000, -10_000, true],
  [1_520_000, 20_000, false],
  // One step down from a million is a thousand of the smaller step.
  [999_000, -1000, true],
  [999_000, -10_000, true],
  [998_000, -20_000, false],
  // A hundredth below a million is ten steps below.
  [1_000_000, 10_000, false],
  [991_000, -9000, false],
  [1_000_000, 1000, true],
  [null, 10, false],
  [1000, null, false],
])("isRoundingStep() of %p after %p is %p", (count, change, isStep) => {
  expect(isRoundingStep(count, change)).toBe(isStep);
});

test.each([
  [[1_500_000, null, 1_510_000], true],
  [[1_510_000, 1_500_000, null], true],
  // There and back is no change, and two steps are one.
  [[1_500_000, 1_510_000, 1_500_000], false],
  [[1_500_000, 1_520_000], false],
  [[1_500_000, 1_504_321, 1_510_000], false],
  [[20, 21], false],
  [[1_500_000], false],
  [[null], false],
  [[], false],
])("isChangeRounding() of %j is %p", (counts, isRounding) => {
  expect(isChangeRounding(counts)).toBe(isRounding);
});
