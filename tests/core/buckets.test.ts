import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  alignBuckets,
  computeCountChanges,
  findBucketEnd,
  findBucketStart,
  findLastKnownCounts,
  groupIntoBuckets,
  HISTORY_INTERVALS,
  type HistoryPoint,
  type HistoryInterval,
} from "../../core/buckets.ts";
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

/** The start of a bucket by the calendar of `Date`. */
function findStartByCalendar(at: number, interval: HistoryInterval): number {
  const date = new Date(at);
  if (interval === "raw") return at;
  date.setUTCMinutes(0, 0, 0);
  if (interval === "hour") return date.getTime();
  date.setUTCHours(0);
  if (interval === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (interval === "month") date.setUTCDate(1);
  return Math.max(FIRST_INSTANT, date.getTime());
}

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
  test("equals a naive grouping", () => {
    fc.assert(
      fc.property(histories, intervals, (points, interval) => {
        const newest = new Map<number, HistoryPoint>();
        for (const point of points) newest.set(findStartByCalendar(point.at, interval), point);
        const expected = Array.from(newest, ([start, { at, counts: values }]) => {
          return { start, observedAt: at, counts: values };
        });
        expect(groupIntoBuckets(points, interval)).toEqual(expected);
      }),
    );
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

describe("alignBuckets()", () => {
  test("has one row for each bucket of any history, in order, and null where one has none", () => {
    fc.assert(
      fc.property(fc.array(histories, { maxLength: 4 }), intervals, (entities, interval) => {
        const grouped = entities.map((points) => groupIntoBuckets(points, interval));
        const rows = alignBuckets(grouped, 1);
        const starts = new Set(grouped.flat().map(({ start }) => start));
        expect(rows.map(({ start }) => start)).toEqual([...starts].toSorted((a, b) => a - b));
        for (const row of rows) {
          const expected = grouped.map(
            (buckets) => buckets.find(({ start }) => start === row.start)?.counts[1] ?? null,
          );
          expect(row.counts).toEqual(expected);
        }
      }),
    );
  });
});
