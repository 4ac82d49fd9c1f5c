/** How the dashboard recognizes counts that their source rounds. */
import { expect, test } from "bun:test";
import {
  findLeastSpan,
  findRoundingStep,
  isChangeRounding,
  isRoundingStep,
} from "../../server/pages/changes.ts";

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

test.each([
  [
    [
      [1_000_000, 1_010_000],
      [5, 7],
    ],
    50_000,
    5,
  ],
  [
    [
      [1_000_000, 1_010_000],
      [10_000_000, null, 10_200_000],
    ],
    500_000,
    5,
  ],
  // What does not change makes nothing beside it flat; what is exact has no steps.
  [
    [
      [1_000_000, 1_000_000],
      [1_000_017, 1_000_000],
    ],
    undefined,
    undefined,
  ],
  [[[0, 1010, 1020]], 50, undefined],
  [[], undefined, undefined],
])("findLeastSpan() of %j is %p, and %p %%", (compared, span, percent) => {
  expect([findLeastSpan(compared, "count"), findLeastSpan(compared, "change")]).toEqual([
    span,
    span,
  ]);
  expect(findLeastSpan(compared, "percent")).toBe(percent);
});
