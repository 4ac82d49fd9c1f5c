/** How the dashboard recognizes counts that their source rounds. */
import { expect, test } from "bun:test";
import { findRoundingStep, isRoundingStep } from "../../server/pages/rounding.ts";

test.each([
  [[1_230_000], 10_000],
  [[12_300], 100],
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

test.each([
  [1_510_000, 10_000, true],
  [1_500_000, -10_000, true],
  [1_520_000, 20_000, false],
  // One step down from a million is a thousand of the smaller step.
  [999_000, -1000, true],
  [999_000, -10_000, true],
  [998_000, -20_000, false],
  [null, 10, false],
  [1000, null, false],
])("isRoundingStep() of %p after %p is %p", (count, change, isStep) => {
  expect(isRoundingStep(count, change)).toBe(isStep);
});
