import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { computeDaysFilterStart, filterDays, computeDaysFilterValidity } from "../../core/days.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { NOW } from "../support/arbitraries/values.ts";

describe("daysStart", () => {
  test("computeDaysFilterStart() counts back whole days of 24 hours, to the millisecond", () => {
    expect(formatInstant(computeDaysFilterStart(NOW + 1, 3))).toBe("2026-11-17T12:00:00.001Z");
  });

  test("computeDaysFilterStart() counts over a leap day and over the end of a year", () => {
    expect(formatInstant(computeDaysFilterStart(Date.parse("2024-03-01T00:00Z"), 1))).toBe(
      "2024-02-29T00:00:00.000Z",
    );
    expect(formatInstant(computeDaysFilterStart(Date.parse("2026-01-01T06:00Z"), 14))).toBe(
      "2025-12-18T06:00:00.000Z",
    );
  });

  test("computeDaysFilterStart() ignores the days on which clocks are set forward or back", () => {
    const change = Date.parse("2026-03-29T12:00Z"); // Berlin
    expect(change - computeDaysFilterStart(change, 1)).toBe(DAY_MS);
    const other = Date.parse("2026-11-01T12:00Z"); // St. John's
    expect(other - computeDaysFilterStart(other, 1)).toBe(DAY_MS);
  });
});

function filterInstants(instants: number[], days: number): number[] {
  return filterDays(instants, (instant) => instant, days, NOW);
}

describe("filterDays", () => {
  test("filterDays() keeps the item exactly so many days old, and no older one", () => {
    const start = NOW - 3 * DAY_MS;
    expect(filterInstants([NOW, start, start - 1], 3)).toEqual([NOW, start]);
  });

  test("filterDays() keeps what is dated ahead of the clock", () => {
    expect(filterInstants([NOW + DAY_MS, NOW], 1)).toEqual([NOW + DAY_MS, NOW]);
  });

  test("filterDays() keeps the order and every repetition, and selects more for more days", () => {
    const ages = fc.array(fc.integer({ min: 0, max: 16 * DAY_MS }), { maxLength: 50 });
    fc.assert(
      fc.property(ages, fc.integer({ min: 1, max: 13 }), (list, days) => {
        const dated = list.map((age) => NOW - age);
        const kept = filterInstants(dated, days);
        const left = dated.filter((instant) => instant < NOW - days * DAY_MS);
        expect(kept.length + left.length).toBe(dated.length);
        expect(filterInstants(filterInstants(dated, days + 1), days)).toEqual(kept);
      }),
    );
  });
});

describe("selectedDuring", () => {
  test("computeDaysFilterValidity() lasts until the oldest item leaves, to the millisecond", () => {
    const { from, to } = computeDaysFilterValidity(NOW, NOW - DAY_MS, 3);
    expect([from, to]).toEqual([NOW, NOW + 2 * DAY_MS]);
    expect(filterDays([NOW - DAY_MS], (at) => at, 3, to)).toHaveLength(1);
    expect(filterDays([NOW - DAY_MS], (at) => at, 3, to + 1)).toHaveLength(0);
  });

  test("computeDaysFilterValidity() lasts for good where nothing is selected", () => {
    expect(computeDaysFilterValidity(NOW, null, 3)).toEqual({ from: NOW, to: Infinity });
  });
});
