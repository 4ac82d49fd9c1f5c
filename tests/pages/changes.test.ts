/** How the dashboard computes changes, rates and extremes of counts. */
import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import {
  computeChangesSinceStart,
  computeRates,
  findChangeSinceStart,
  findExtremes,
  pickBucketChanges,
  sumChanges,
} from "../../server/pages/changes.ts";
import { NOW } from "../support/service.ts";

describe("computeChangesSinceStart()", () => {
  test("starts at the first known count, and keeps what is unknown", () => {
    expect(computeChangesSinceStart([null, 200, null, 230, 150])).toEqual([null, 0, null, 30, -50]);
    expect(computeChangesSinceStart([200, 230, 150], { isPercent: true })).toEqual([0, 15, -25]);
  });

  test("invents nothing where the start is unknown or 0", () => {
    expect(computeChangesSinceStart([null, null])).toEqual([null, null]);
    expect(computeChangesSinceStart([0, 5])).toEqual([0, 5]);
    expect(computeChangesSinceStart([0, 5, null], { isPercent: true })).toEqual([null, null, null]);
  });
});

test("findChangeSinceStart() finds the newest change, unless it is a step of rounding", () => {
  expect(findChangeSinceStart([null, 200, 230, null])).toBe(30);
  expect(findChangeSinceStart([200, 230], { isPercent: true })).toBe(15);
  expect(findChangeSinceStart([1_230_000, 1_230_000])).toBe(0);
  expect(findChangeSinceStart([1_230_000, 1_250_000])).toBe(20_000);
  expect(findChangeSinceStart([1_230_000, 1_240_000])).toBeNull();
  expect(findChangeSinceStart([1_240_000, 1_230_000], { isPercent: true })).toBeNull();
  expect(findChangeSinceStart([null, null])).toBeNull();
});

describe("computeRates()", () => {
  const observe = (hours: number, count: number | null, change: number | null) => ({
    observedAt: NOW + hours * HOUR_MS,
    count,
    change,
  });

  test("divides by the time since the observation before, however long that is", () => {
    const observed = [observe(0, 10, null), observe(0.5, 30, 20), observe(10.5, 80, 50)];
    expect(computeRates(observed, HOUR_MS).rates).toEqual([null, 40, 5]);
    expect(computeRates(observed, DAY_MS).rates).toEqual([null, 960, 120]);
  });

  test("is negative where a count fell, and counts from where it was last known", () => {
    const observed = [
      observe(0, 100, null),
      observe(2, 60, -40),
      observe(3, null, null),
      // The service compares this with the count of two hours before.
      observe(4, 70, 10),
      observe(5, 71, 1),
    ];
    expect(computeRates(observed, HOUR_MS).rates).toEqual([null, -20, null, 5, 1]);
  });

  test("is unknown at first, even if the service knows a count before", () => {
    expect(computeRates([observe(0, 10, 3)], HOUR_MS).rates).toEqual([null]);
  });

  test("is for a day where a bucket is as long as that", () => {
    expect([HOUR_MS, DAY_MS, 7 * DAY_MS].map((step) => computeRates([], step).unit)).toEqual([
      "hour",
      "day",
      "day",
    ]);
  });
});

test("pickBucketChanges() leaves out what changed during a gap", () => {
  const observed = [0, 1, 5, 6].map((day) => ({
    observedAt: NOW + day * DAY_MS,
    count: 10 * day,
    change: day === 0 ? null : day === 5 ? 40 : 10,
  }));
  expect(pickBucketChanges(observed, DAY_MS)).toEqual([null, 10, null, 10]);
});

test("sumChanges() adds the known changes, and knows none where none is known", () => {
  expect(sumChanges([{ change: 3 }, { change: null }, { change: -1 }])).toBe(2);
  expect(sumChanges([{ change: null }])).toBeNull();
  expect(sumChanges([])).toBeNull();
});

test("findExtremes() finds the first greatest and least known value", () => {
  expect(findExtremes([null, 3, -1, null, 3, -1])).toEqual({ greatest: 1, least: 2 });
  expect(findExtremes([null])).toBeNull();
});
