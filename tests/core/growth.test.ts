import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  computeFollowerChanges,
  computeGain,
  computeGainBaseline,
  computeEntityGains,
  GAIN_DEFINITIONS,
} from "../../core/growth.ts";
import { INTEGER_MAX } from "../../core/limits.ts";
import { DAY_MS } from "../../core/time.ts";
import { modelGains } from "../model/gains.ts";
import { counts, NOW } from "../support/arbitraries/values.ts";

describe("GAIN_DEFINITIONS", () => {
  test("has a gain of each period for each count of channels and users", () => {
    const gains = (suffix: string, count: string) =>
      Object.fromEntries(
        (["daily", "weekly", "monthly"] as const).map((period) => [
          `${period}${suffix}`,
          { count, period },
        ]),
      );
    expect(GAIN_DEFINITIONS).toEqual({
      channel: {
        ...gains("SubscriberGain", "subscribers"),
        ...gains("ViewGain", "viewCount"),
        ...gains("VideoGain", "videoCount"),
      },
      short: {},
      user: {
        ...gains("FollowerGain", "followers_count"),
        ...gains("FollowingGain", "following_count"),
        ...gains("TweetGain", "tweet_count"),
      },
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
  const UNKNOWN = { dailyFollowerGain: null, weeklyFollowerGain: null, monthlyFollowerGain: null };
  const computeUserGains = (...list: [daysAgo: number, followers: number | null][]) => {
    const gains = computeEntityGains("user", entityOf(...list));
    return Object.fromEntries(
      Object.keys(UNKNOWN).map((name): [string, number | null | undefined] => [name, gains[name]]),
    );
  };

  test("equals a naive model, in any order of the points", () => {
    const dayArbitrary = fc.integer({ min: 0, max: 130 }).map((half) => half / 2);
    const histories = fc.uniqueArray(fc.tuple(dayArbitrary, fc.option(counts)), {
      selector: ([daysAgo]) => daysAgo,
      minLength: 1,
      size: "max",
      maxLength: 60,
    });
    fc.assert(
      fc.property(histories, (list) => {
        const points = list.map(([daysAgo, count]) => ({ at: NOW - daysAgo * DAY_MS, count }));
        const { daily, weekly, monthly } = modelGains(points);
        const expected = {
          dailyFollowerGain: daily,
          weeklyFollowerGain: weekly,
          monthlyFollowerGain: monthly,
        };
        expect(computeUserGains(...list)).toEqual(expected);
      }),
    );
  });

  test("compares with the newest count that is at least 1, 7 and 30 days older", () => {
    const points = [0, 0.5, 1.5, 2, 7, 8, 30, 40].map((days): [number, number] => [
      days,
      1000 - days,
    ]);
    expect(computeUserGains(...points)).toEqual({
      dailyFollowerGain: 1.5,
      weeklyFollowerGain: 7,
      monthlyFollowerGain: 30,
    });
  });

  test("skips an unknown count", () => {
    expect(computeUserGains([0, 9], [1.1, null], [1.2, 4])["dailyFollowerGain"]).toBe(5);
  });

  test("is unknown if the newest count is, or there is no older one", () => {
    expect(computeUserGains([0, null], [1, 10], [7, 10], [30, 10])).toEqual(UNKNOWN);
    expect(computeUserGains([0, 10])).toEqual(UNKNOWN);
  });

  test("counts back from the newest observation, not from now", () => {
    expect(computeUserGains([100, 50], [101, 60])["dailyFollowerGain"]).toBe(-10);
  });

  test("includes both ends of the range", () => {
    expect(computeUserGains([0, 9], [1, 4])["dailyFollowerGain"]).toBe(5);
    expect(computeUserGains([0, 9], [2, 4])["dailyFollowerGain"]).toBe(5);
    expect(computeUserGains([0, 9], [2.001, 4])["dailyFollowerGain"]).toBeNull();
    expect(computeUserGains([0, 9], [0.999, 4])["dailyFollowerGain"]).toBeNull();
  });

  test("is unknown without observations, and without the count", () => {
    expect(computeUserGains()).toEqual(UNKNOWN);
    const points = new Map([[NOW, {}]]);
    expect(computeEntityGains("user", { attributes: {}, points })).toMatchObject(UNKNOWN);
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
