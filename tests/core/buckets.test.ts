import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  computeCountChanges,
  fillUnknownCounts,
  findBucketEnd,
  findBucketStart,
  findLastKnownCounts,
  groupIntoBuckets,
  HISTORY_INTERVALS,
  type HistoryBucket,
  type HistoryPoint,
  type HistoryInterval,
} from "../../core/buckets.ts";
import { findModelStart, groupBy } from "../model/histories.ts";
import { DAY_MS, FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";

const instants = fc.oneof(
  fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT }),
  fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 2, 1) }),
);
const intervals = fc.constantFrom(...HISTORY_INTERVALS);
const counts = fc.array(fc.option(fc.nat(20)), { minLength: 2, maxLength: 2 });

/** Points of a few months, oldest first, in several of which a bucket has many points. */
const histories = fc
  .uniqueArray(fc.tuple(fc.nat(2000), counts), { selector: ([hour]) => hour, maxLength: 80 })
  .map((rows) =>
    rows
      .toSorted(([a], [b]) => a - b)
      .map(([hour, values]): HistoryPoint => {
        return { at: Date.UTC(2026, 0, 1) + hour * 1_234_567, counts: values };
      }),
  );

const findStartByCalendar = (at: number, interval: HistoryInterval) =>
  Date.parse(findModelStart(at, interval));

describe("findBucketStart()", () => {
  test("is the calendar's start of the hour, day, week from Monday or month in UTC", () => {
    fc.assert(
      fc.property(instants, intervals, (at, interval) => {
        expect(findBucketStart(at, interval)).toBe(findStartByCalendar(at, interval));
      }),
    );
  });

  test.each([
    ["raw", "2024-02-29T23:59:59.999Z"],
    ["hour", "2024-02-29T23:00:00.000Z"],
    ["day", "2024-02-29T00:00:00.000Z"],
    ["week", "2024-02-26T00:00:00.000Z"],
    ["month", "2024-02-01T00:00:00.000Z"],
  ] as const)("of the last instant of a leap day, %s, is %s", (interval, start) => {
    const at = Date.parse("2024-02-29T23:59:59.999Z");
    expect(new Date(findBucketStart(at, interval)).toISOString()).toBe(start);
  });
});

describe("findBucketEnd()", () => {
  test("ends the first week, which begins with the year 0, on its Sunday", () => {
    const start = findBucketStart(FIRST_INSTANT + DAY_MS, "week");
    expect(start).toBe(FIRST_INSTANT); // A Saturday.
    expect(findBucketEnd(start, "week")).toBe(FIRST_INSTANT + 2 * DAY_MS);
  });

  test("is the first instant that belongs to another bucket", () => {
    fc.assert(
      fc.property(instants, intervals, (at, interval) => {
        const start = findBucketStart(at, interval);
        const end = findBucketEnd(start, interval);
        expect(at).toBeGreaterThanOrEqual(start);
        expect(at).toBeLessThan(end);
        expect(findBucketStart(end - 1, interval)).toBe(start);
        expect(findBucketStart(end, interval)).toBe(end);
      }),
    );
  });
});

describe("groupIntoBuckets()", () => {
  test("has the newest known value of each count, whatever the order of the points", () => {
    fc.assert(
      fc.property(histories, intervals, fc.gen(), (points, interval, generate) => {
        const groups = groupBy(points, ({ at }) => findStartByCalendar(at, interval));
        const expected = Array.from(groups, ([start, inside]) => ({
          start,
          observedAt: inside.at(-1)?.at,
          counts: [0, 1].map(
            (index) =>
              inside.findLast((point) => point.counts[index] !== null)?.counts[index] ?? null,
          ),
        }));
        expect(groupIntoBuckets(points, interval)).toEqual(expected as HistoryBucket[]);
        const shuffled = generate(fc.shuffledSubarray, points, { minLength: points.length });
        expect(groupIntoBuckets(new Set(shuffled), interval)).toEqual(expected as HistoryBucket[]);
      }),
    );
  });

  test("takes the values of a Map in order of arrival", () => {
    const arrived = new Map([
      ["second", { at: DAY_MS, counts: [7] }],
      ["first", { at: 0, counts: [5] }],
      ["first, earlier", { at: -1, counts: [4] }],
    ]);
    expect(groupIntoBuckets(arrived.values(), "day").map((bucket) => bucket.counts)).toEqual([
      [4],
      [5],
      [7],
    ]);
  });

  test("changes no point", () => {
    const points = [
      { at: 1, counts: [null] },
      { at: 0, counts: [5] },
      { at: 1, counts: [2] },
    ];
    const copy = structuredClone(points);
    expect(groupIntoBuckets(points, "day")).toEqual([{ start: 0, observedAt: 1, counts: [2] }]);
    expect(points).toEqual(copy);
  });

  test("lists no bucket without a point, and adds nothing up", () => {
    const points = [
      { at: 0, counts: [5] },
      { at: 1, counts: [7] },
      { at: 3 * DAY_MS, counts: [4] },
    ];
    expect(groupIntoBuckets(points, "day")).toEqual([
      { start: 0, observedAt: 1, counts: [7] },
      { start: 3 * DAY_MS, observedAt: 3 * DAY_MS, counts: [4] },
    ]);
    expect(groupIntoBuckets([], "day")).toEqual([]);
  });

  test("begins a bucket with a point at the very end of another", () => {
    const points = [DAY_MS - 1, DAY_MS].map((at) => ({ at, counts: [at] }));
    expect(groupIntoBuckets(points, "day").map(({ start }) => start)).toEqual([0, DAY_MS]);
  });

  test("merges the points of an instant as observations are merged, in any order", () => {
    const points = [
      { at: 5, counts: [1, null, 3, null] },
      { at: 9, counts: [0, 0, 0, 0] },
      { at: 5, counts: [2, 2, null, null] },
      { at: 5, counts: [0, null, 2, null] },
    ];
    const expected = [
      { start: 5, observedAt: 5, counts: [2, 2, 3, null] },
      { start: 9, observedAt: 9, counts: [0, 0, 0, 0] },
    ];
    expect(groupIntoBuckets(points, "raw")).toEqual(expected);
    expect(groupIntoBuckets(points.toReversed(), "raw")).toEqual(expected);
    // The instants rise here, but not each one.
    const sorted = points.toSorted((x, y) => x.at - y.at);
    expect(groupIntoBuckets(sorted, "raw")).toEqual(expected);
  });
});

describe("fillUnknownCounts()", () => {
  test("fills with what is known earlier, and returns the counts themselves if that is nothing", () => {
    expect(fillUnknownCounts([null, 7, 0, null], [5, 6, 3, null])).toEqual([5, 7, 0, null]);
    for (const known of [[1, 2], [null, 2], []]) {
      expect(fillUnknownCounts(known, [null, 6])).toBe(known);
    }
  });
});

describe("computeCountChanges()", () => {
  test("equals the difference from the newest known count of an earlier bucket", () => {
    fc.assert(
      fc.property(histories, intervals, (points, interval) => {
        const buckets = groupIntoBuckets(points, interval);
        const expected = buckets.map((bucket, index) =>
          bucket.counts.map((value, count) => {
            const before = buckets.slice(0, index).map((earlier) => earlier.counts[count] ?? null);
            const previous = before.findLast((known) => known !== null) ?? null;
            return value === null || previous === null ? null : value - previous;
          }),
        );
        expect(computeCountChanges(buckets)).toEqual(expected);
      }),
    );
  });

  test("continues across the edge of a page, wherever that is, with findLastKnownCounts()", () => {
    fc.assert(
      fc.property(histories, intervals, fc.nat(80), (points, interval, size) => {
        const buckets = groupIntoBuckets(points, interval);
        const [page, rest] = [buckets.slice(0, size), buckets.slice(size)];
        expect([
          ...computeCountChanges(page),
          ...computeCountChanges(rest, findLastKnownCounts(page)),
        ]).toEqual(computeCountChanges(buckets));
      }),
    );
  });
});
