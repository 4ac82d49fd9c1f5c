/** How the pages write numbers, times and CSV. */
import { describe, expect, test } from "bun:test";
import {
  formatChange,
  formatCompact,
  formatExact,
  formatMeasure,
  formatPercent,
  formatPoint,
  formatTick,
  formatTicks,
  formatUtc,
  toCsv,
} from "../../server/pages/format.ts";
import { readCsvRows } from "../support/csv-rows.ts";

describe("formatCompact()", () => {
  test.each([
    [0, "0"],
    [-7, "−7"],
    [999, "999"],
    [999.4, "999.4"],
    [999_499, "999 K"],
    [999_500, "1 M"],
    [1_234_567, "1.23 M"],
    [-1_234_567, "−1.23 M"],
    [Number.MAX_SAFE_INTEGER, "9010 T"],
  ])("writes %d as %s", (value, text) => {
    expect(formatCompact(value)).toBe(text);
  });
});

test("formatTicks() writes the value of each tick, whatever its digits", () => {
  expect(formatTicks([230, 232.5, 235])).toEqual(["230", "232.5", "235"]);
  expect(formatTicks([230_000, 232_500])).toEqual(["230 K", "232.5 K"]);
  expect(formatTicks([1_450_000, 1_450_001])).toEqual(["1.45 M", "1.450001 M"]);
  expect(formatTicks([999_500, 1_000_000])).toEqual(["999.5 K", "1 M"]);
  expect(formatTicks([-0.005, 0, 0.1 + 0.2])).toEqual(["−0.005", "0", "0.3"]);
});

test("formatChange() gives gains a plus, losses a minus, and zero neither", () => {
  expect([1500, -7, 0].map(formatChange)).toEqual(["+1.5 K", "−7", "0"]);
});

test("formatPercent() keeps as many digits as say something, and the sign", () => {
  expect([0, 0.99, -0.0123, 12.34, -123.4, 12_345].map(formatPercent)).toEqual([
    "0 %",
    "+0.99 %",
    "−0.012 %",
    "+12.3 %",
    "−123 %",
    "+12,345 %",
  ]);
});

test("formatMeasure() says that a value is unknown, and gives differences their sign", () => {
  expect([null, undefined, 5].map((value) => formatMeasure(value, "count"))).toEqual([
    "unknown",
    "unknown",
    "5",
  ]);
  expect([formatMeasure(1500, "change"), formatMeasure(1.5, "percent")]).toEqual([
    "+1,500",
    "+1.5 %",
  ]);
});

test("formatExact() keeps all digits of counts, and two of rates", () => {
  expect([1_234_567, -1234, 0.126].map(formatExact)).toEqual(["1,234,567", "−1,234", "0.13"]);
});

test("formatTick() is as fine as the step, in the local time zone", () => {
  const seconds = new Date(2026, 10, 20, 8, 15, 30).getTime() / 1000;
  const steps = [10, 300, 86_400, 28 * 86_400];
  const ticks = ["08:15:30", "08:15", "20 Nov", "Nov 2026"];
  expect(steps.map((step) => formatTick(seconds, step, "local"))).toEqual(ticks);
});

test("formatTick() and formatPoint() write the date of a day in UTC, whatever the time zone", () => {
  const day = "2026-11-20T00:00:00.000Z";
  expect(formatTick(Date.parse(day) / 1000, 86_400, "utc")).toBe("20 Nov");
  expect(formatTick(Date.parse(day) / 1000, 3600, "utc")).toBe("20 Nov");
  expect(formatPoint(Date.parse(day), "utc")).toBe("20 Nov 2026");
});

test("formatUtc() says that it is UTC", () => {
  expect(formatUtc("2026-11-20T08:15:30.123+02:00")).toBe("2026-11-20 06:15:30 UTC");
});

test("toCsv() writes what a reader of CSV gives back", () => {
  const header = ["a,b", 'say "hi"', "line\r\nbreak", "=1+1", ""];
  const csv = toCsv(header, [[1, null, "x", 0.5, -2]]);
  expect(readCsvRows(csv)).toEqual([header, ["1", "", "x", "0.5", "-2"]]);
});
