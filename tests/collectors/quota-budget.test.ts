import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { findQuotaReset, formatQuotaDay } from "../../server/collectors/quota-budget.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";

const PACIFIC = "America/Los_Angeles";
const HOUR_MS = 3_600_000;

describe("formatQuotaDay()", () => {
  test.each([
    ["the day that the Pacific still has", "2026-11-20T07:59:59.999Z", PACIFIC, "2026-11-19"],
    ["the day from midnight on", "2026-11-20T08:00:00.000Z", PACIFIC, "2026-11-20"],
    ["midnight an hour earlier in summer", "2026-07-01T07:00:00.000Z", PACIFIC, "2026-07-01"],
    ["the last moment of a summer's day", "2026-07-01T06:59:59.999Z", PACIFIC, "2026-06-30"],
    ["the day of UTC", "2026-11-20T00:00:00.000Z", "UTC", "2026-11-20"],
    ["the last moment of a year", "2026-12-31T23:59:59.999Z", "UTC", "2026-12-31"],
    ["a leap day", "2028-02-29T12:00:00.000Z", "UTC", "2028-02-29"],
    ["a year in four digits", "0987-01-02T12:00:00.000Z", "UTC", "0987-01-02"],
  ])("returns %s", (_what, at, zone, day) => {
    expect(formatQuotaDay(Date.parse(at), zone)).toBe(day);
  });

  test("refuses a zone that does not exist", () => {
    expect(() => formatQuotaDay(0, "Mars/Olympus")).toThrow(RangeError);
  });
});

describe("findQuotaReset()", () => {
  test.each([
    ["midnight of UTC", "2026-11-20T12:00:00.000Z", "UTC", "2026-11-21T00:00:00.000Z"],
    ["the day after, at midnight", "2026-11-20T00:00:00.000Z", "UTC", "2026-11-21T00:00:00.000Z"],
    ["midnight in winter", "2026-11-20T07:59:59.999Z", PACIFIC, "2026-11-20T08:00:00.000Z"],
    ["midnight in summer", "2026-07-01T12:00:00.000Z", PACIFIC, "2026-07-02T07:00:00.000Z"],
    [
      "the end of a day of 23 hours",
      "2026-03-08T08:00:00.000Z",
      PACIFIC,
      "2026-03-09T07:00:00.000Z",
    ],
    [
      "the end of a day of 25 hours",
      "2026-11-01T07:00:00.000Z",
      PACIFIC,
      "2026-11-02T08:00:00.000Z",
    ],
    [
      "it in the hour that comes twice",
      "2026-11-01T09:30:00.000Z",
      PACIFIC,
      "2026-11-02T08:00:00.000Z",
    ],
    [
      "a midnight that does not exist",
      "2026-09-05T12:00:00.000Z",
      "America/Santiago",
      "2026-09-06T04:00:00.000Z",
    ],
  ])("returns %s", (_what, at, zone, next) => {
    expect(formatInstant(findQuotaReset(Date.parse(at), zone))).toBe(next);
  });

  test("returns the first instant of another day, and no later one", () => {
    const instants = fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2100-01-01") });
    fc.assert(
      fc.property(instants, fc.constantFrom(PACIFIC, "UTC"), (at, zone) => {
        const next = findQuotaReset(at, zone);
        expect(next - at).toBeWithin(1, DAY_MS + HOUR_MS + 1);
        expect(formatQuotaDay(next - 1, zone)).toBe(formatQuotaDay(at, zone));
        expect(formatQuotaDay(next, zone) > formatQuotaDay(at, zone)).toBe(true);
      }),
    );
  });
});
