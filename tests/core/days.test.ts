import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { computeDaysFilterStart, filterDays, computeDaysFilterValidity } from "../../core/days.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { NOW } from "../support/arbitraries/values.ts";

describe("computeDaysFilterStart()", () => {
  test("counts back days of 24 hours, to the millisecond", () => {
    expect(formatInstant(computeDaysFilterStart(3, NOW + 1))).toBe("2026-11-17T12:00:00.001Z");
  });

  test("counts across a leap day and the end of a year", () => {
    expect(formatInstant(computeDaysFilterStart(1, Date.parse("2024-03-01T00:00Z")))).toBe(
      "2024-02-29T00:00:00.000Z",
    );
    expect(formatInstant(computeDaysFilterStart(14, Date.parse("2026-01-01T06:00Z")))).toBe(
      "2025-12-18T06:00:00.000Z",
    );
  });

  test("ignores changes of summer time", () => {
    const berlin = Date.parse("2026-03-29T12:00Z");
    expect(berlin - computeDaysFilterStart(1, berlin)).toBe(DAY_MS);
    const stJohns = Date.parse("2026-11-01T12:00Z");
    expect(stJohns - computeDaysFilterStart(1, stJohns)).toBe(DAY_MS);
  });
});

function filterInstants(instants: number[], days: number): number[] {
  return filterDays(instants, (instant) => instant, days, NOW);
}

describe("filterDays()", () => {
  test("keeps an item of exactly that age, and no older one", () => {
    const start = NOW - 3 * DAY_MS;
    expect(filterInstants([NOW, start, start - 1], 3)).toEqual([NOW, start]);
  });

  test("keeps items from the future", () => {
    expect(filterInstants([NOW + DAY_MS, NOW], 1)).toEqual([NOW + DAY_MS, NOW]);
  });

  test("keeps order and duplicates, and selects more for more days", () => {
    const ages = fc.array(fc.integer({ min: 0, max: 16 * DAY_MS }), { maxLength: 50 });
    fc.assert(
      fc.property(ages, fc.integer({ min: 1, max: 13 }), (list, days) => {
        const dated = list.map((age) => NOW - age);
        const kept = filterInstants(dated, days);
        const excluded = dated.filter((instant) => instant < NOW - days * DAY_MS);
        expect(kept.length + excluded.length).toBe(dated.length);
        expect(filterInstants(filterInstants(dated, days + 1), days)).toEqual(kept);
      }),
    );
  });
});

describe("computeDaysFilterValidity()", () => {
  test("lasts until the oldest item leaves, to the millisecond", () => {
    const { from, to } = computeDaysFilterValidity(NOW - DAY_MS, 3, NOW);
    expect([from, to]).toEqual([NOW, NOW + 2 * DAY_MS]);
    expect(filterDays([NOW - DAY_MS], (at) => at, 3, to)).toHaveLength(1);
    expect(filterDays([NOW - DAY_MS], (at) => at, 3, to + 1)).toHaveLength(0);
  });

  test("has no end if nothing is selected", () => {
    expect(computeDaysFilterValidity(null, 3, NOW)).toEqual({ from: NOW, to: Infinity });
  });
});
