import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  followerChanges,
  gain,
  gainSpan,
  subscriberGains,
  type CountPoint,
  type Span,
} from "../../core/growth.ts";
import { MAX_WHOLE } from "../../core/limits.ts";
import { DAY_MS } from "../../core/time.ts";
import { counts, NOW } from "../support/arbitraries.ts";

/** The newest known count of some points within a span, as a store finds it. */
function newestKnownIn(points: readonly CountPoint[]) {
  return ({ from, to }: Span) => {
    const within = points.filter(({ at, count }) => at >= from && at <= to && count !== null);
    return within.toSorted((a, b) => b.at - a.at)[0]?.count ?? null;
  };
}

const daysAgo = (days: number, count: number | null) => ({ at: NOW - days * DAY_MS, count });

describe("gainSpan", () => {
  test("gainSpan() spans from twice the days to once the days before the newest observation", () => {
    expect(gainSpan(NOW, 7)).toEqual({ from: NOW - 14 * DAY_MS, to: NOW - 7 * DAY_MS });
  });
});

describe("gain", () => {
  test("gain() is negative for a loss and 0 for no change", () => {
    expect(gain(5, 8)).toBe(-3);
    expect(gain(8, 8)).toBe(0);
    expect(gain(0, MAX_WHOLE)).toBe(-MAX_WHOLE);
  });

  test("gain() is null where either count is unknown, never a difference from 0", () => {
    expect(gain(null, 5)).toBeNull();
    expect(gain(5, null)).toBeNull();
    expect(gain(null, null)).toBeNull();
  });
});

function gains(newest: CountPoint, ...points: CountPoint[]) {
  return subscriberGains(newest, newestKnownIn([newest, ...points]));
}

describe("subscriberGains", () => {
  test("subscriberGains() compares with the newest count at least 1, 7 and 30 days older", () => {
    const points = [0.5, 1.5, 2, 7, 8, 30, 40].map((days) => daysAgo(days, 1000 - days));
    expect(gains(daysAgo(0, 1000), ...points)).toEqual({
      dailySubscriberGain: 1.5,
      weeklySubscriberGain: 7,
      monthlySubscriberGain: 30,
    });
  });

  test("subscriberGains() includes both ends of the span, and nothing past them", () => {
    const newest = daysAgo(0, 100);
    const daily = (at: number) => gains(newest, { at, count: 90 }).dailySubscriberGain;
    expect(daily(NOW - DAY_MS)).toBe(10);
    expect(daily(NOW - 2 * DAY_MS)).toBe(10);
    expect(daily(NOW - DAY_MS + 1)).toBeNull();
    expect(daily(NOW - 2 * DAY_MS - 1)).toBeNull();
  });

  test("subscriberGains() passes over an unknown count to the known one before it", () => {
    const { dailySubscriberGain } = gains(daysAgo(0, 9), daysAgo(1.1, null), daysAgo(1.2, 4));
    expect(dailySubscriberGain).toBe(5);
  });

  test("subscriberGains() gives null where the present count is unknown or nothing is older", () => {
    const unknown = {
      dailySubscriberGain: null,
      weeklySubscriberGain: null,
      monthlySubscriberGain: null,
    };
    const points = [1, 7, 30].map((days) => daysAgo(days, 10));
    expect(gains(daysAgo(0, null), ...points)).toEqual(unknown);
    expect(gains(daysAgo(0, 10))).toEqual(unknown);
  });

  test("subscriberGains() counts back from the newest observation, not from now", () => {
    expect(gains(daysAgo(100, 50), daysAgo(101, 60)).dailySubscriberGain).toBe(-10);
  });

  test("subscriberGains() asks for the three spans of the specification", () => {
    const asked: Span[] = [];
    subscriberGains({ at: NOW, count: 1 }, (span) => {
      asked.push(span);
      return null;
    });
    expect(asked).toEqual([gainSpan(NOW, 1), gainSpan(NOW, 7), gainSpan(NOW, 30)]);
  });
});

describe("followerChanges", () => {
  test("followerChanges() gives 0 for the first count ever", () => {
    expect(followerChanges([{ at: 1, followers: 10 }], 5)).toEqual([
      { at: 1, followers: 10, change: 0 },
    ]);
    expect(followerChanges([], 5)).toEqual([]);
  });

  test("followerChanges() compares the last listed with a point that is not listed", () => {
    const points = [
      { at: 3, followers: 8 },
      { at: 2, followers: 12 },
      { at: 1, followers: 10 },
    ];
    expect(followerChanges(points, 2)).toEqual([
      { at: 3, followers: 8, change: -4 },
      { at: 2, followers: 12, change: 2 },
    ]);
  });

  test("followerChanges() that are all listed sum to the newest count minus the first", () => {
    fc.assert(
      fc.property(fc.array(counts, { minLength: 1, maxLength: 30 }), (followers) => {
        const points = followers.map((count, index) => ({ at: -index, followers: count }));
        const changes = followerChanges(points, points.length);
        const sum = changes.reduce((total, { change }) => total + BigInt(change), 0n);
        expect(sum).toBe(BigInt(followers[0] ?? 0) - BigInt(followers.at(-1) ?? 0));
      }),
    );
  });

  test("followerChanges() of two overlapping pages agree where they overlap", () => {
    const pages = fc.tuple(fc.array(counts, { maxLength: 20 }), fc.nat(20), fc.nat(20));
    fc.assert(
      fc.property(pages, ([followers, start, limit]) => {
        const points = followers.map((count, index) => ({ at: -index, followers: count }));
        const page = followerChanges(points.slice(start, start + limit + 1), limit);
        const whole = followerChanges(points, points.length);
        expect(page).toEqual(whole.slice(start, start + limit));
      }),
    );
  });
});
