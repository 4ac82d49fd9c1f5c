import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  DAY_MS,
  FIRST_INSTANT,
  formatDay,
  formatInstant,
  formatInstantOrNull,
  LAST_INSTANT,
  parseInstant,
  parseInstantParameter,
} from "../../core/time.ts";
import { instants, texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

describe("parseInstant()", () => {
  test.each([
    ["a date as midnight UTC", "2026-11-20", "2026-11-20T00:00:00.000Z"],
    ["no seconds", "2026-11-20T08:15", "2026-11-20T08:15:00.000Z"],
    ["no zone as UTC", "2026-11-20T08:15:30", "2026-11-20T08:15:30.000Z"],
    ["Z", "2026-11-20T08:15:30Z", "2026-11-20T08:15:30.000Z"],
    ["one digit of fraction as tenths", "2026-11-20T08:15:30.1Z", "2026-11-20T08:15:30.100Z"],
    ["a fraction cut, not rounded", "2026-11-20T08:15:30.1239999Z", "2026-11-20T08:15:30.123Z"],
    ["a long fraction", `2026-11-20T08:15:59.${"9".repeat(999)}`, "2026-11-20T08:15:59.999Z"],
    ["a zone ahead of UTC", "2026-11-20T08:15+05:30", "2026-11-20T02:45:00.000Z"],
    ["a zone behind UTC", "2026-11-20T20:15:30.5-03:30", "2026-11-20T23:45:30.500Z"],
    ["a zone that changes the year", "2026-12-31T23:00-02:00", "2027-01-01T01:00:00.000Z"],
    ["-00:00 as UTC", "2026-11-20T08:15-00:00", "2026-11-20T08:15:00.000Z"],
    ["the widest zone", "2026-11-20T23:59+23:59", "2026-11-20T00:00:00.000Z"],
    ["a leap day", "2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["the leap day of 2000", "2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["the leap day of the year 0", "0000-02-29", "0000-02-29T00:00:00.000Z"],
    ["the first instant", "0000-01-01", "0000-01-01T00:00:00.000Z"],
    ["a year before 100", "0099-12-31", "0099-12-31T00:00:00.000Z"],
    ["before 1970", "1969-12-31T23:59:59.999", "1969-12-31T23:59:59.999Z"],
    ["the last instant", "9999-12-31T23:59:59.999", "9999-12-31T23:59:59.999Z"],
    ["the hour that clocks in Apia skipped", "2011-12-30T12:00", "2011-12-30T12:00:00.000Z"],
  ])("reads %s", (_what, text, written) => {
    expect(formatInstant(parseInstant(text) ?? NaN)).toBe(written);
  });

  test("returns milliseconds since 1970, and 0 rather than -0", () => {
    expect(parseInstant("2026-11-20T08:15+01:00")).toBe(1795158900000);
    expect(parseInstant("1970-01-01")).toBe(0);
    expect(parseInstant("1970-01-01T00:00-00:00")).toBe(0);
    expect(parseInstant("0000-01-01")).toBe(FIRST_INSTANT);
  });

  test.each([
    "",
    "now",
    "2026",
    "2026-11",
    "2026-00-10",
    "2026-13-10",
    "2026-11-00",
    "2026-11-31",
    "2024-02-30",
    "2023-02-29",
    "1900-02-29",
    "2026-11-20T24:00",
    "2026-11-20T24:00:00Z",
    "2026-11-20T23:60",
    "2026-11-20T23:59:60Z",
    "2026-11-20T8:15",
    "2026-11-20T08",
    "2026-11-20T",
    "2026-11-20Z",
    "2026-11-20+01:00",
    "2026-11-20 08:15",
    "2026-11-20t08:15z",
    "2026-11-20T08:15:30.",
    "2026-11-20T08:15:30,5",
    "2026-11-20T08:15.5",
    "2026-11-20T08:15:30+0100",
    "2026-11-20T08:15:30+01",
    "2026-11-20T08:15:30+24:00",
    "2026-11-20T08:15:30+01:60",
    "2026-11-20T08:15:30ZZ",
    "2026-11-20\n",
    " 2026-11-20",
    "20261120",
    "2026-324",
    "2026-W47-5",
    "26-11-20",
    "-2026-11-20",
    "+002026-11-20",
    "12026-11-20",
    "２０２６-11-20",
    "1795158900000",
    "0000-01-01T00:00+00:01",
    "9999-12-31T23:59:59.999-00:01",
  ])("rejects %j", (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test("rejects every non-digit and every misplaced separator", () => {
    const written = "2026-11-20T08:15:30.123Z";
    for (let index = 0; index < written.length; index++) {
      for (const character of "/:;-+.,aATtzZ٣ ") {
        const text = written.slice(0, index) + character + written.slice(index + 1);
        if (text !== written) expect([text, parseInstant(text)]).toEqual([text, undefined]);
      }
    }
  });

  test("rejects text before and after an instant", () => {
    const written = "2026-11-20T08:15:30.123Z";
    for (const extra of ["0", "Z", " ", "\n", "\0", "x", "+01:00", written]) {
      expect([extra, parseInstant(extra + written)]).toEqual([extra, undefined]);
      expect([extra, parseInstant(written + extra)]).toEqual([extra, undefined]);
    }
  });

  test("accepts exactly the days of the calendar", () => {
    for (const year of [0, 4, 100, 1900, 2000, 2023, 2024, 2100, 9999]) {
      const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
      const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
      for (let month = 0; month <= 13; month++) {
        for (let day = 0; day <= 32; day++) {
          const text = [padDigits(year, 4), padDigits(month, 2), padDigits(day, 2)].join("-");
          const exists = day >= 1 && day <= (lengths[month - 1] ?? 0);
          expect([text, parseInstant(text) !== undefined]).toEqual([text, exists]);
        }
      }
    }
  });

  test("returns no instant outside the years 0 to 9999", () => {
    const shaped = fc.stringMatching(
      /^[09]{3}[0-9]-(01|12|02)-(01|29|31)T(00|23):[05][09](:59\.9+)?[+-]\d\d:\d\d$/,
    );
    fc.assert(
      fc.property(fc.oneof(shaped, texts), (text) => {
        const instant = parseInstant(text);
        if (instant === undefined) return;
        expect(Number.isSafeInteger(instant)).toBe(true);
        expect(formatInstant(instant)).toMatch(/^\d{4}-/);
      }),
    );
  });

  test("reads every instant that Date writes", () => {
    const any = fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT });
    const days = fc.integer({
      min: FIRST_INSTANT / DAY_MS,
      max: Math.floor(LAST_INSTANT / DAY_MS),
    });
    const edges = days.chain((day) => fc.constantFrom(day * DAY_MS, day * DAY_MS - 1));
    fc.assert(
      fc.property(fc.oneof(any, edges), (instant) => {
        fc.pre(instant >= FIRST_INSTANT);
        expect(parseInstant(new Date(instant).toISOString())).toBe(instant);
      }),
      { numRuns: 2000 },
    );
  });

  test("reads the same instant from every zone offset", () => {
    const offsets = fc.integer({ min: -1439, max: 1439 });
    const inner = fc.integer({ min: FIRST_INSTANT + DAY_MS, max: LAST_INSTANT - DAY_MS });
    fc.assert(
      fc.property(inner, offsets, (instant, offset) => {
        const local = formatInstant(instant + offset * 60_000).slice(0, -1);
        const minutes = Math.abs(offset);
        const zone = `${padDigits(Math.floor(minutes / 60), 2)}:${padDigits(minutes % 60, 2)}`;
        expect(parseInstant(`${local}${offset < 0 ? "-" : "+"}${zone}`)).toBe(instant);
      }),
    );
  });
});

describe("parseInstantParameter()", () => {
  test("returns the instant", () => {
    expect(parseInstantParameter("before", "1970-01-02")).toBe(DAY_MS);
  });

  test("names the parameter, its value and what is allowed", () => {
    expect(catchDomainError(() => parseInstantParameter("before", "2024-02-30"))).toEqual({
      code: "Invalid Request",
      message:
        "before must be an ISO 8601 date (2026-11-20) or date-time (2026-11-20T08:15:30.123Z) " +
        'that exists, got "2024-02-30"',
    });
  });
});

describe("formatInstant()", () => {
  test("returns what parseInstant() reads back, for every instant", () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(parseInstant(formatInstant(instant))).toBe(instant);
      }),
      { examples: [[FIRST_INSTANT], [-1], [0], [LAST_INSTANT]] },
    );
  });

  test("returns what Date writes, for every instant of the years 0 to 9999", () => {
    const leapDays = fc.integer({ min: 0, max: 2499 }).map((leap) => {
      const year = String(4 * leap).padStart(4, "0");
      const isLeap = leap % 25 !== 0 || leap % 100 === 0;
      return Date.parse(`${year}-02-${isLeap ? "29" : "28"}T23:59:59.999Z`);
    });
    const anyInstants = fc.oneof(instants, leapDays, fc.integer({ min: -DAY_MS, max: DAY_MS }));
    fc.assert(
      fc.property(anyInstants, (instant) => {
        expect(formatInstant(instant)).toBe(new Date(instant).toISOString());
      }),
      { numRuns: 2000, examples: [[FIRST_INSTANT], [-1], [0], [LAST_INSTANT]] },
    );
  });

  test("returns texts that sort like the instants", () => {
    fc.assert(
      fc.property(instants, instants, (a, b) => {
        expect(formatInstant(a) < formatInstant(b)).toBe(a < b);
      }),
    );
  });
});

describe("formatDay()", () => {
  test("returns the date alone", () => {
    expect(formatDay(20_777)).toBe("2026-11-20");
    expect(formatDay(-1)).toBe("1969-12-31");
  });
});

describe("formatInstantOrNull()", () => {
  test("returns null for an unknown instant", () => {
    expect(formatInstantOrNull(1795162530123)).toBe("2026-11-20T08:15:30.123Z");
    expect(formatInstantOrNull(0)).toBe("1970-01-01T00:00:00.000Z");
    expect(formatInstantOrNull(null)).toBeNull();
  });
});

function padDigits(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}

test.each([NaN, Infinity, -Infinity, FIRST_INSTANT - 1, LAST_INSTANT + 1])(
  "formatInstant(%d) is a RangeError that says what is allowed",
  (instant) => {
    expect(() => formatInstant(instant)).toThrow(
      new RangeError(
        "An instant must be from -62167219200000 to 253402300799999 milliseconds, " +
          `got ${instant}`,
      ),
    );
  },
);

test("parseInstant() refuses every text in which one character is replaced by another kind", () => {
  const text = "2026-11-20T08:15:30.123Z";
  for (let index = 0; index < text.length; index++) {
    for (const wrong of ["a", "O", "l", "/", ":", " ", "\u0660", "\uff11", "-", "+"]) {
      if (wrong === text[index]) continue;
      const changed = text.slice(0, index) + wrong + text.slice(index + 1);
      expect([changed, parseInstant(changed)]).toEqual([changed, undefined]);
    }
  }
  for (const trailing of ["0", "Z", " ", "\n", "+00:00", "\u0000"]) {
    expect([trailing, parseInstant(`${text}${trailing}`)]).toEqual([trailing, undefined]);
  }
});
