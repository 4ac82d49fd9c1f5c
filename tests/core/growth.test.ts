import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  computeFollowerChanges,
  computeGain,
  computeGainBaseline,
  computeEntityGains,
  computeGains,
  GAIN_DEFINITIONS,
  type CountPoint,
  type TimeRange,
} from "../../core/growth.ts";
import { INTEGER_MAX } from "../../core/limits.ts";
import { DAY_MS } from "../../core/time.ts";
import { counts, NOW } from "../support/arbitraries/values.ts";

/** Finds the newest known count within a range, like a store. */
function findNewestKnown(points: readonly CountPoint[]) {
  return ({ from, to }: TimeRange) => {
    const within = points.filter(({ at, count }) => at >= from && at <= to && count !== null);
    return within.toSorted((a, b) => b.at - a.at)[0]?.count ?? null;
  };
}

const pointDaysAgo = (days: number, count: number | null) => ({ at: NOW - days * DAY_MS, count });

describe("GAIN_DEFINITIONS", () => {
  test("has a gain of each period for the counts that lists are sorted by", () => {
    const gains = (suffix: string, count: string) =>
      Object.fromEntries(
        (["daily", "weekly", "monthly"] as const).map((period) => [
          `${period}${suffix}`,
          { count, period },
        ]),
      );
    expect(GAIN_DEFINITIONS).toEqual({
      channel: { ...gains("Gain", "subscribers"), ...gains("Views", "viewCount") },
      short: {},
      user: gains("Gain", "followers_count"),
      tweet: {},
    });
  });
});

describe("computeEntityGains()", () => {
  const entityOf = (...list: [daysAgo: number, followers: number | null][]) => ({
    attributes: {},
    points: new Map(
      list.map(([daysAgo, followers_count]) => [NOW - daysAgo * DAY_MS, { followers_count }]),
    ),
  });
  const computeUserGains = (...list: [daysAgo: number, followers: number | null][]) =>
    computeEntityGains("user", entityOf(...list));
  const UNKNOWN = { dailyGain: null, weeklyGain: null, monthlyGain: null };

  test("equals computeGains() of each count, in any order of the points", () => {
    const dayArbitrary = fc.integer({ min: 0, max: 130 }).map((half) => half / 2);
    const histories = fc.uniqueArray(fc.tuple(dayArbitrary, fc.option(counts)), {
      selector: ([daysAgo]) => daysAgo,
      minLength: 1,
      size: "max",
      maxLength: 60,
    });
    fc.assert(
      fc.property(histories, (list) => {
        const points = list.map(([daysAgo, count]) => pointDaysAgo(daysAgo, count));
        const [newest = pointDaysAgo(0, null)] = points.toSorted((a, b) => b.at - a.at);
        const { daily, weekly, monthly } = computeGains(newest, findNewestKnown(points));
        const expected = { dailyGain: daily, weeklyGain: weekly, monthlyGain: monthly };
        expect(computeUserGains(...list)).toEqual(expected);
      }),
    );
  });

  test("includes both ends of the range", () => {
    expect(computeUserGains([0, 9], [1, 4])["dailyGain"]).toBe(5);
    expect(computeUserGains([0, 9], [2, 4])["dailyGain"]).toBe(5);
    expect(computeUserGains([0, 9], [2.001, 4])["dailyGain"]).toBeNull();
    expect(computeUserGains([0, 9], [0.999, 4])["dailyGain"]).toBeNull();
  });

  test("is unknown without observations, and without the count", () => {
    expect(computeUserGains()).toEqual(UNKNOWN);
    const points = new Map([[NOW, {}]]);
    expect(computeEntityGains("user", { attributes: {}, points })).toEqual(UNKNOWN);
  });
});

describe("computeGainBaseline()", () => {
  test("is twice to once the days before the newest observation", () => {
    expect(computeGainBaseline(NOW, 7)).toEqual({ from: NOW - 14 * DAY_MS, to: NOW - 7 * DAY_MS });
  });
});

describe("computeGain()", () => {
  test("is negative for a loss and 0 for no change", () => {
    expect(computeGain(5, 8)).toBe(-3);
    expect(computeGain(8, 8)).toBe(0);
    expect(computeGain(0, INTEGER_MAX)).toBe(-INTEGER_MAX);
  });

  test("is null if either count is unknown", () => {
    expect(computeGain(null, 5)).toBeNull();
    expect(computeGain(5, null)).toBeNull();
    expect(computeGain(null, null)).toBeNull();
  });
});

function computePointGains(newest: CountPoint, ...points: CountPoint[]) {
  return computeGains(newest, findNewestKnown([newest, ...points]));
}

describe("computeGains()", () => {
  test("compares with the newest count that is at least 1, 7 and 30 days older", () => {
    const points = [0.5, 1.5, 2, 7, 8, 30, 40].map((days) => pointDaysAgo(days, 1000 - days));
    expect(computePointGains(pointDaysAgo(0, 1000), ...points)).toEqual({
      daily: 1.5,
      weekly: 7,
      monthly: 30,
    });
  });

  test("includes both ends of the range", () => {
    const newest = pointDaysAgo(0, 100);
    const daily = (at: number) => computePointGains(newest, { at, count: 90 }).daily;
    expect(daily(NOW - DAY_MS)).toBe(10);
    expect(daily(NOW - 2 * DAY_MS)).toBe(10);
    expect(daily(NOW - DAY_MS + 1)).toBeNull();
    expect(daily(NOW - 2 * DAY_MS - 1)).toBeNull();
  });

  test("skips an unknown count", () => {
    const { daily } = computePointGains(
      pointDaysAgo(0, 9),
      pointDaysAgo(1.1, null),
      pointDaysAgo(1.2, 4),
    );
    expect(daily).toBe(5);
  });

  test("returns null if the newest count is unknown or there is no older one", () => {
    const unknown = {
      daily: null,
      weekly: null,
      monthly: null,
    };
    const points = [1, 7, 30].map((days) => pointDaysAgo(days, 10));
    expect(computePointGains(pointDaysAgo(0, null), ...points)).toEqual(unknown);
    expect(computePointGains(pointDaysAgo(0, 10))).toEqual(unknown);
  });

  test("counts back from the newest observation, not from now", () => {
    expect(computePointGains(pointDaysAgo(100, 50), pointDaysAgo(101, 60)).daily).toBe(-10);
  });

  test("asks for the three ranges of the specification", () => {
    const asked: TimeRange[] = [];
    computeGains({ at: NOW, count: 1 }, (span) => {
      asked.push(span);
      return null;
    });
    expect(asked).toEqual([
      computeGainBaseline(NOW, 1),
      computeGainBaseline(NOW, 7),
      computeGainBaseline(NOW, 30),
    ]);
  });
});

describe("computeFollowerChanges()", () => {
  test("returns 0 for the first count", () => {
    expect(computeFollowerChanges([{ at: 1, followers: 10 }], 5)).toEqual([
      { at: 1, followers: 10, change: 0 },
    ]);
    expect(computeFollowerChanges([], 5)).toEqual([]);
  });

  test("compares the last listed point with one that is not listed", () => {
    const points = [
      { at: 3, followers: 8 },
      { at: 2, followers: 12 },
      { at: 1, followers: 10 },
    ];
    expect(computeFollowerChanges(points, 2)).toEqual([
      { at: 3, followers: 8, change: -4 },
      { at: 2, followers: 12, change: 2 },
    ]);
  });

  test("returns changes that add up to the newest count minus the first", () => {
    fc.assert(
      fc.property(fc.array(counts, { minLength: 1, maxLength: 30 }), (followers) => {
        const points = followers.map((count, index) => ({ at: -index, followers: count }));
        const changes = computeFollowerChanges(points, points.length);
        const sum = changes.reduce((total, { change }) => total + BigInt(change), 0n);
        expect(sum).toBe(BigInt(followers[0] ?? 0) - BigInt(followers.at(-1) ?? 0));
      }),
    );
  });

  test("returns equal changes on overlapping pages", () => {
    const pages = fc.tuple(fc.array(counts, { maxLength: 20 }), fc.nat(20), fc.nat(20));
    fc.assert(
      fc.property(pages, ([followers, start, limit]) => {
        const points = followers.map((count, index) => ({ at: -index, followers: count }));
        const page = computeFollowerChanges(points.slice(start, start + limit + 1), limit);
        const whole = computeFollowerChanges(points, points.length);
        expect(page).toEqual(whole.slice(start, start + limit));
      }),
    );
  });
});
