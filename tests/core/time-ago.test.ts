import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS, FIRST_INSTANT, formatInstant, parseInstantOrAgo } from "../../core/time.ts";

describe("parseInstantOrAgo()", () => {
  const NOW = Date.UTC(2026, 10, 26, 8, 15, 30, 123);

  test.each([
    ["minutes", "-90m", "2026-11-26T06:45:30.123Z"],
    ["hours", "-12h", "2026-11-25T20:15:30.123Z"],
    ["days of 24 hours, also over a change of clocks", "-40d", "2026-10-17T08:15:30.123Z"],
    ["weeks", "-4w", "2026-10-29T08:15:30.123Z"],
    ["-0d as now", "-0d", "2026-11-26T08:15:30.123Z"],
    ["digits that begin with 0", "-007d", "2026-11-19T08:15:30.123Z"],
    ["an instant", "2026-11-20T08:15+01:00", "2026-11-20T07:15:00.000Z"],
    ["a day as midnight UTC", "2026-11-20", "2026-11-20T00:00:00.000Z"],
  ])("reads %s", (_what, text, written) => {
    expect(formatInstant(parseInstantOrAgo(text, NOW) ?? NaN)).toBe(written);
  });

  test.each(["-", "-d", "-7", "7d", "+7d", "-7D", "-7y", "-7s", "-7d ", "--7d", "-1.5d", "-7d12h"])(
    "returns undefined for %j",
    (text) => expect(parseInstantOrAgo(text, NOW)).toBeUndefined(),
  );

  test("returns undefined before the year 0, and for more than six digits", () => {
    expect(parseInstantOrAgo("-739000d", NOW)).toBeGreaterThan(FIRST_INSTANT);
    expect(parseInstantOrAgo("-741000d", NOW)).toBeUndefined();
    expect(parseInstantOrAgo("-1d", FIRST_INSTANT + DAY_MS)).toBe(FIRST_INSTANT);
    expect(parseInstantOrAgo("-1d", FIRST_INSTANT + DAY_MS - 1)).toBeUndefined();
    expect(parseInstantOrAgo("-0000007d", NOW)).toBeUndefined();
  });

  test("counts units as their milliseconds", () => {
    const amounts = fc.integer({ min: 0, max: 99_999 });
    const units = fc.constantFrom<[string, number]>(
      ["m", 60_000],
      ["h", 3_600_000],
      ["d", DAY_MS],
      ["w", 7 * DAY_MS],
    );
    fc.assert(
      fc.property(amounts, units, (amount, [unit, unitMs]) => {
        const expected = NOW - amount * unitMs;
        const parsed = parseInstantOrAgo(`-${amount}${unit}`, NOW);
        expect(parsed).toBe(expected < FIRST_INSTANT ? undefined : expected);
      }),
    );
  });
});
