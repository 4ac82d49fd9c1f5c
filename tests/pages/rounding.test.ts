/** How high the charts of the dashboard are for counts that their source rounds. */
import { expect, test } from "bun:test";
import { findLeastSpan } from "../../server/pages/changes.ts";

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
