import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  AGE_RANGES,
  computeJitter,
  computeRetryIntervalMs,
  computeItemIntervalMs,
  computeGoneItemIntervalMs,
  computeListIntervalMs,
  computeNextDueAt,
  computeSlowdownFactor,
  estimatePollsPerDay,
} from "../../server/collectors/poll-schedule.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("computeItemIntervalMs()", () => {
  test.each([
    ["just published", 0, HOUR_MS / 2],
    ["of half a day", DAY_MS / 2, HOUR_MS / 2],
    ["of a day", DAY_MS, HOUR_MS],
    ["of a week", 7 * DAY_MS, 7 * HOUR_MS],
    ["of 30 days", 30 * DAY_MS, 30 * HOUR_MS],
    ["of a year", 365 * DAY_MS, 14 * DAY_MS],
    ["of ten years", 3650 * DAY_MS, 14 * DAY_MS],
    ["from the future, by a wrong clock", -DAY_MS, HOUR_MS / 2],
  ])("an item %s", (_, ageMs, everyMs) => {
    expect(computeItemIntervalMs(ageMs)).toBe(everyMs);
  });

  test("never grows shorter as an item grows older", () => {
    const age = fc.integer({ min: 0, max: 400 * DAY_MS });
    fc.assert(
      fc.property(age, age, (a, b) => {
        expect(computeItemIntervalMs(Math.max(a, b))).toBeGreaterThanOrEqual(
          computeItemIntervalMs(Math.min(a, b)),
        );
      }),
    );
  });
});

describe("computeListIntervalMs()", () => {
  test.each([
    ["just now", 0, 6 * HOUR_MS],
    ["six days ago", 6 * DAY_MS, 6 * HOUR_MS],
    ["a week ago", 7 * DAY_MS, 7 * HOUR_MS],
    ["a month ago", 30 * DAY_MS, DAY_MS],
    ["never", Infinity, DAY_MS],
  ])("a list whose newest item was published %s", (_, ageMs, everyMs) => {
    expect(computeListIntervalMs(ageMs)).toBe(everyMs);
  });
});

describe("estimatePollsPerDay()", () => {
  test.each([
    ["items", computeItemIntervalMs],
    ["lists", computeListIntervalMs],
  ])("returns the polls of %s of all ages, or up to a tenth more", (_, every) => {
    const ages = fc.array(fc.integer({ min: 0, max: 400 * DAY_MS }), { maxLength: 50 });
    fc.assert(
      fc.property(ages, (all) => {
        const counts = AGE_RANGES.map(
          ({ from, to }) => all.filter((age) => age >= from && age < to).length,
        );
        const real = all.reduce((sum, age) => sum + DAY_MS / every(age), 0);
        expect(estimatePollsPerDay(counts, every)).toBeGreaterThanOrEqual(real - 1e-9);
        expect(estimatePollsPerDay(counts, every)).toBeLessThanOrEqual(real * 1.1 + 1e-9);
      }),
    );
  });

  test("AGE_RANGES cover every age once", () => {
    const bounds = AGE_RANGES.flatMap(({ from, to }) => [from, to]);
    expect(bounds.at(0)).toBe(0);
    expect(bounds.at(-1)).toBe(Infinity);
    for (let index = 1; index < AGE_RANGES.length; index++) {
      expect(AGE_RANGES[index]?.from).toBe(AGE_RANGES[index - 1]?.to ?? -1);
    }
  });
});

describe("computeSlowdownFactor()", () => {
  test.each([
    ["a quota that suffices", { needed: 100, fixed: 10, available: 1000 }, 1],
    ["one that is just enough", { needed: 990, fixed: 10, available: 1000 }, 1],
    ["half of the needed units", { needed: 2000, fixed: 0, available: 1000 }, 2],
    ["nothing to do", { needed: 0, fixed: 0, available: 1000 }, 1],
    ["no quota, and nothing to do", { needed: 0, fixed: 0, available: 0 }, 1],
    ["fixed units use everything", { needed: 100, fixed: 5000, available: 1000 }, 1],
    [
      "fixed units use everything, and much else is needed",
      { needed: 1000, fixed: 5000, available: 1000 },
      10,
    ],
  ])("%s", (_, quota, factor) => {
    expect(computeSlowdownFactor(quota)).toBe(factor);
  });

  test("makes the needed units fit the available ones", () => {
    const units = fc.integer({ min: 1, max: 1e6 });
    fc.assert(
      fc.property(units, units, units, (needed, fixed, available) => {
        fc.pre(fixed < available * 0.9);
        const factor = computeSlowdownFactor({ needed, fixed, available });
        expect(fixed + needed / factor).toBeLessThanOrEqual(Math.max(available, 1) + 1e-6);
      }),
    );
  });
});

describe("computeNextDueAt()", () => {
  test("spreads targets that were added together over their interval", () => {
    const due = Array.from({ length: 1000 }, (_, index) =>
      computeNextDueAt({
        now: 0,
        everyMs: HOUR_MS,
        isFirst: true,
        chance: computeJitter(`channel ${index}`),
      }),
    );
    const perTenth = Map.groupBy(due, (at) => Math.floor((10 * at) / HOUR_MS));
    expect(Math.min(...due)).toBeGreaterThanOrEqual(0.1 * HOUR_MS);
    expect(Math.max(...due)).toBeLessThanOrEqual(HOUR_MS);
    for (let tenth = 1; tenth < 10; tenth++) {
      expect(perTenth.get(tenth)?.length ?? 0).toBeGreaterThan(60);
      expect(perTenth.get(tenth)?.length ?? 0).toBeLessThan(170);
    }
  });

  test("stays within a tenth of the interval after the first time", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const due = computeNextDueAt({
          now: 0,
          everyMs: HOUR_MS,
          isFirst: false,
          chance: computeJitter(text),
        });
        expect(Math.abs(due - HOUR_MS)).toBeLessThanOrEqual(HOUR_MS / 10 + 1);
      }),
    );
  });
});

describe("computeRetryIntervalMs()", () => {
  test("grows with each failure, and not beyond the usual interval", () => {
    const after = (failures: number) => computeRetryIntervalMs(DAY_MS, failures);
    expect([1, 2, 3, 4].map(after)).toEqual([5, 10, 20, 40].map((minutes) => minutes * 60_000));
    expect(after(50)).toBe(DAY_MS);
    expect(after(5000)).toBe(DAY_MS);
  });
});

describe("computeGoneItemIntervalMs()", () => {
  test("is a day, then twice as long each time, up to 30 days", () => {
    const days = [1, 2, 3, 4, 5, 6, 7, 50, 5000].map(
      (times) => computeGoneItemIntervalMs(times) / DAY_MS,
    );
    expect(days).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 30]);
  });
});

describe("computeJitter()", () => {
  test("is from 0 to below 1, and the same for the same text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(computeJitter(text)).toBeGreaterThanOrEqual(0);
        expect(computeJitter(text)).toBeLessThan(1);
        expect(computeJitter(text)).toBe(computeJitter(text));
      }),
    );
  });
});
