import { describe, expect, test } from "bun:test";
import {
  computeAgeMultiple,
  findViewsAtAge,
  listViewsAtAge,
} from "../../../core/metrics/age-multiple.ts";
import { computeItemMetrics, getItemViews } from "../../../core/metrics/entity-metrics.ts";
import { HOUR_MS } from "../../../core/time.ts";

/** An item that had these views at these hours after its publication. */
const createItem = (publishedAt: number, views: readonly (readonly [number, number])[]) => ({
  publishedAt,
  points: views.map(([hours, count]) => ({ at: publishedAt + hours * HOUR_MS, count })),
});

describe("computeAgeMultiple()", () => {
  test("is the views over the median of five or more", () => {
    expect(computeAgeMultiple(300, [100, 50, 200, 100, 400])).toEqual({
      ageMultiple: 3,
      comparedItems: 5,
      median: 100,
    });
    // Of an even number, the median is the mean of the two in the middle.
    expect(computeAgeMultiple(1, [5, 1, 2, 6, 3, 100])).toEqual({
      ageMultiple: 0.25,
      comparedItems: 6,
      median: 4,
    });
  });

  test("is null with fewer than five, a median of 0 or unknown views", () => {
    expect(computeAgeMultiple(300, [100, 50, 200, 100])).toEqual({
      ageMultiple: null,
      comparedItems: 4,
      median: null,
    });
    expect(computeAgeMultiple(300, [0, 0, 0, 1, 2])).toEqual({
      ageMultiple: null,
      comparedItems: 5,
      median: 0,
    });
    expect(computeAgeMultiple(null, [1, 1, 1, 1, 1]).ageMultiple).toBeNull();
    expect(computeAgeMultiple(0, [1, 1, 1, 1, 1]).ageMultiple).toBe(0);
  });
});

describe("listViewsAtAge()", () => {
  test("interpolates between two known points, takes a point at the age, and goes never beyond", () => {
    const items = [
      // Between 0 h and 10 h, 4 h are 40 %.
      createItem(0, [
        [0, 0],
        [10, 100],
      ]),
      // A known point exactly at the age counts, if it is the first or the last, too.
      createItem(1000, [[4, 7]]),
      createItem(2000, [
        [4, 8],
        [9, 100],
      ]),
      createItem(3000, [
        [1, 5],
        [4, 9],
      ]),
      // Too young, and observed too late.
      createItem(4000, [
        [1, 5],
        [3.9, 9],
      ]),
      createItem(5000, [[4.1, 9]]),
      createItem(6000, []),
    ];
    expect(listViewsAtAge(items, 4 * HOUR_MS)).toEqual([40, 7, 8, 9]);
  });

  test("takes no count from before the publication, as the age has none", () => {
    const before = createItem(0, [
      [-10, 1000],
      [10, 3000],
    ]);
    const from = createItem(0, [
      [-10, 1000],
      [0, 2000],
      [10, 3000],
    ]);
    expect(listViewsAtAge([before, from], 5 * HOUR_MS)).toEqual([2500]);
  });

  test("interpolates views that fall", () => {
    const item = createItem(0, [
      [1, 100],
      [2, 50],
    ]);
    expect(listViewsAtAge([item], 1.5 * HOUR_MS)).toEqual([75]);
  });
});

describe("findViewsAtAge()", () => {
  test("is at the newest observation that tells the views", () => {
    const points = [
      { at: 150, counts: [7, null, null, null] },
      { at: 170, counts: [null, 3, null, null] },
    ];
    const views = getItemViews("short", { publishedAt: 100, points });
    expect(findViewsAtAge(views)).toEqual({ ageMs: 50, views: 7 });
  });

  test("is null without views, and before the publication", () => {
    expect(findViewsAtAge({ publishedAt: 100, points: [] })).toBeNull();
    expect(findViewsAtAge({ publishedAt: 100, points: [{ at: 99, count: 7 }] })).toBeNull();
    expect(findViewsAtAge({ publishedAt: 100, points: [{ at: 100, count: 7 }] })).toEqual({
      ageMs: 0,
      views: 7,
    });
  });
});

test("computeItemMetrics() compares nothing with an item without views", () => {
  const item = { publishedAt: 0, points: [{ at: HOUR_MS, counts: [null, 5, 5, 5] }] };
  const { ageComparison } = computeItemMetrics("short", item, [1, 2, 3, 4, 5]);
  expect(ageComparison).toEqual({ comparedItems: 0, median: null });
});

test("computeItemMetrics() compares a breakout with the five before it, at 24 hours", () => {
  const earlier = [0, 1, 2, 3, 4].map((index) =>
    createItem(index * 1000, [
      [0, 0],
      [12, 500 + index * 100],
      [48, 1500 + index * 100],
    ]),
  );
  const item = {
    publishedAt: 9_000_000,
    points: [{ at: 9_000_000 + 24 * HOUR_MS, counts: [5000, 250, 40, 10] }],
  };
  const views = listViewsAtAge(earlier, 24 * HOUR_MS);
  // At 24 h, each is a third of the way from its 12 h to its 48 h.
  expect(views.map((count) => Math.round(count))).toEqual([833, 933, 1033, 1133, 1233]);
  expect(computeItemMetrics("short", item, views)).toEqual({
    metrics: {
      ageHours: 24,
      viewsPerHour: null,
      viewsPerDay: null,
      engagement: 0.06,
      likeRate: 0.05,
      ageMultiple: 4.8387,
    },
    ageComparison: { comparedItems: 5, median: 1033.3333 },
  });
});
