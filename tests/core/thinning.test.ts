import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { computeSliceBounds, keepNewestOfSlices, thinHistory } from "../../core/thinning.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";

/** Short and long histories, oldest first. */
const histories = fc
  .oneof(
    fc.uniqueArray(fc.nat(60), { maxLength: 60 }),
    fc.uniqueArray(fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT }), { maxLength: 60 }),
  )
  .map((instants) => instants.toSorted((a, b) => a - b).map((at) => ({ at })));

const maxima = fc.integer({ min: 3, max: 30 });

describe("computeSliceBounds()", () => {
  test("returns one bound more than slices, from the first to the newest", () => {
    expect(computeSliceBounds(0, 90, 5)).toEqual([0, 30, 60, 90]);
    expect(computeSliceBounds(10, 20, 3)).toEqual([10, 20]);
  });

  test("cuts equal slices, each bound rounded up to a millisecond", () => {
    const spans = fc.tuple(
      fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT - 1 }),
      fc.integer({ min: 1, max: LAST_INSTANT - FIRST_INSTANT }),
      fc.integer({ min: 3, max: 1000 }),
    );
    fc.assert(
      fc.property(spans, ([first, span, max]) => {
        const slices = BigInt(max - 2);
        const bounds = computeSliceBounds(first, first + span, max);
        expect(bounds.map(BigInt)).toEqual(
          Array.from({ length: max - 1 }, (_, index) => {
            const exact = BigInt(span) * BigInt(index);
            return BigInt(first) + (exact + slices - 1n) / slices;
          }),
        );
      }),
    );
  });
});

describe("thinHistory()", () => {
  test("keeps a history that is short enough", () => {
    const points = [1, 2, 3, 4, 5].map((at) => ({ at }));
    expect(thinHistory(points, 5)).toEqual(points);
    expect(thinHistory([], 5)).toEqual([]);
  });

  test("keeps exactly `maxPoints` points, however close they are", () => {
    const points = [0, 1, 2, 3, 100].map((at) => ({ at }));
    expect(thinHistory(points, 5)).toEqual(points);
  });

  test("keeps the first, the newest, and the newest of each slice", () => {
    const points = [0, 1, 10, 29, 30, 31, 59, 60, 61, 90].map((at) => ({ at }));
    expect(thinHistory(points, 5).map(({ at }) => at)).toEqual([0, 29, 59, 61, 90]);
  });

  test("leaves a slice without points empty", () => {
    const points = [0, 1, 2, 3, 4, 100].map((at) => ({ at }));
    expect(thinHistory(points, 5).map(({ at }) => at)).toEqual([0, 4, 100]);
  });

  test("keeps the point objects", () => {
    const points = Array.from({ length: 10 }, (_, at) => ({ at, views: at * 2 }));
    const kept = thinHistory(points, 4);
    expect(kept.every((point) => points.includes(point))).toBe(true);
  });

  test("does not change its argument", () => {
    const points = Array.from({ length: 10 }, (_, at) => ({ at }));
    const before = structuredClone(points);
    thinHistory(points, 3).pop();
    thinHistory(points, 20).pop();
    expect(points).toEqual(before);
  });

  test("keeps at most `maxPoints` points, in order", () => {
    fc.assert(
      fc.property(histories, maxima, (points, max) => {
        const kept = thinHistory(points, max);
        expect(kept.length).toBeLessThanOrEqual(max);
        expect(kept).toEqual(points.filter((point) => kept.includes(point)));
        expect([kept[0], kept.at(-1)]).toEqual([points[0], points.at(-1)]);
      }),
    );
  });

  test("keeps exactly the newest of every slice between the ends", () => {
    fc.assert(
      fc.property(histories, maxima, (points, max) => {
        fc.pre(points.length > max);
        const [first, newest] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
        const inner = points.slice(1, -1);
        const bounds = computeSliceBounds(first, newest, max);
        const expected = bounds.slice(1).flatMap((end, slice) => {
          const start = bounds[slice] ?? first;
          return inner.filter(({ at }) => at >= start && at < end).slice(-1);
        });
        expect(thinHistory(points, max).slice(1, -1)).toEqual(expected);
      }),
    );
  });
});

test.each([Number.NaN, 2, 3.5, Infinity])(
  "computeSliceBounds() and thinHistory() reject a maximum of %d points",
  (max) => {
    const error = new RangeError(`maxPoints must be a whole number from 3, got ${max}`);
    expect(() => computeSliceBounds(0, 90, max)).toThrow(error);
    expect(() => thinHistory([], max)).toThrow(error);
  },
);

describe("keepNewestOfSlices()", () => {
  test("gives the same result for any subset with the points that it keeps", () => {
    fc.assert(
      fc.property(histories, maxima, fc.infiniteStream(fc.boolean()), (points, max, isIncluded) => {
        fc.pre(points.length > max);
        const bounds = computeSliceBounds(points[0]?.at ?? 0, points.at(-1)?.at ?? 0, max);
        const kept = keepNewestOfSlices(points, bounds);
        expect(kept).toEqual(thinHistory(points, max));
        const subset = points.filter((point) => kept.includes(point) || isIncluded.next().value);
        expect(keepNewestOfSlices(subset, bounds)).toEqual(kept);
      }),
    );
  });
});
