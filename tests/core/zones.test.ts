import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ZONE_MAX_CHARACTERS } from "../../core/limits.ts";
import { DAY_MS, FIRST_INSTANT, HOUR_MS, LAST_INSTANT } from "../../core/time.ts";
import { getTimeZone, parseZoneParameter, ZONE_PATTERN } from "../../core/zones.ts";
import { catchDomainError } from "../support/domain-error.ts";
import { ZONES } from "../support/zones.ts";

const REFUSED = [
  "",
  "Mars/Phobos",
  "Europe",
  " Europe/Lisbon",
  "Europe/Lisbon ",
  "Europe%2FLisbon",
  "+02:00",
  "-0330",
  "UTC+2",
  "Etc/Unknown",
  "Ελλάδα",
  "x".repeat(ZONE_MAX_CHARACTERS + 1),
];

const zones = fc.constantFrom(...ZONES);
const instants = fc.integer({ min: Date.UTC(1850, 0), max: Date.UTC(2100, 0) });

const FORMATS = new Map(
  ZONES.map((zone) => [
    zone,
    new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }),
  ]),
);

/** The time that the clocks of a zone show, as if it were UTC. */
function readClocks(zone: string, at: number): number {
  const parts = FORMATS.get(zone)?.formatToParts(at) ?? [];
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const [year = 0, month = 0, day, hour, minute, second] = [
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
  ].map(read);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

describe("getTimeZone()", () => {
  test("takes names in any case, and spells them as Intl does", () => {
    expect(getTimeZone("europe/LISBON").name).toBe("Europe/Lisbon");
    expect(getTimeZone("utc").name).toBe("UTC");
    // Some engines have another name for the zone.
    for (const zone of ZONES) expect(getTimeZone(zone).name).toBe(zone);
  });

  test.each(REFUSED)("refuses %j", (name) => {
    expect(() => getTimeZone(name)).toThrow(RangeError);
  });

  test("has the offset that Intl has, at every instant", () => {
    fc.assert(
      fc.property(zones, instants, (zone, at) => {
        const { offset, start, end } = getTimeZone(zone).findSpan(at);
        expect(offset).toBe(readClocks(zone, at) - Math.floor(at / 1000) * 1000);
        expect(at >= start && at < end).toBe(true);
      }),
      { numRuns: 2000 },
    );
  }, 60_000);

  test("ends a span at the millisecond at which the clocks change, or a day later or more", () => {
    fc.assert(
      fc.property(zones, instants, (zone, at) => {
        const { findSpan } = getTimeZone(zone);
        const { offset, start, end } = findSpan(at);
        expect(findSpan(end - 1).offset).toBe(offset);
        if (end - at < DAY_MS) expect(findSpan(end).offset).not.toBe(offset);
        if (at - start < DAY_MS) expect(findSpan(start - 1).offset).not.toBe(offset);
      }),
    );
  });

  test("finds the first instant at which clocks show a time, or a later one", () => {
    fc.assert(
      fc.property(zones, instants, (zone, local) => {
        const { findFirstInstant, findSpan } = getTimeZone(zone);
        const first = findFirstInstant(local);
        expect(first + findSpan(first).offset).toBeGreaterThanOrEqual(local);
        for (const before of [1, HOUR_MS, 7 * HOUR_MS, DAY_MS, 2 * DAY_MS]) {
          expect(first - before + findSpan(first - before).offset).toBeLessThan(local);
        }
      }),
    );
    const { findFirstInstant } = getTimeZone("America/New_York");
    // 1:30 is shown twice, and 2:30 is skipped.
    expect(findFirstInstant(Date.UTC(2026, 10, 1, 1, 30))).toBe(Date.UTC(2026, 10, 1, 5, 30));
    expect(findFirstInstant(Date.UTC(2026, 2, 8, 2, 30))).toBe(Date.UTC(2026, 2, 8, 7));
  });

  test("knows the first and the last instant", () => {
    for (const zone of ZONES) {
      const { findSpan } = getTimeZone(zone);
      const ends = [FIRST_INSTANT, LAST_INSTANT].map((at) => findSpan(at).offset);
      expect(ends.every((offset) => Math.abs(offset) < 16 * HOUR_MS)).toBe(true);
    }
  });

  test("gives the same answers for more years and zones than it keeps", () => {
    const years = Array.from({ length: 600 }, (_, year) => Date.UTC(1500 + year, 6, 1));
    const { findSpan } = getTimeZone("Europe/Dublin");
    const read = () => years.map((at) => findSpan(at).offset);
    expect(read()).toEqual(read());
    const names = Array.from({ length: 2 ** 7 }, (_, bits) =>
      Array.from("Etc/UTC", (letter, index) =>
        (bits >> index) % 2 === 0 ? letter : letter.toLowerCase(),
      ).join(""),
    );
    expect(names.every((name) => getTimeZone(name).findSpan(0).offset === 0)).toBe(true);
    expect(getTimeZone("Europe/Dublin").findSpan(years.at(-1) ?? 0).offset).toBe(HOUR_MS);
  });

  test("refuses what is no number", () => {
    const { findFirstInstant, findSpan } = getTimeZone("Europe/Lisbon");
    expect(() => findSpan(Number.NaN)).toThrow(RangeError);
    expect(() => findFirstInstant(Number.NaN)).toThrow(RangeError);
  });
});

describe("ZONE_PATTERN", () => {
  test("matches names, and nothing before and after them", () => {
    const regexp = new RegExp(ZONE_PATTERN);
    expect(ZONES.filter((zone) => !regexp.test(zone))).toEqual([]);
    const others = ["", " Europe/Lisbon", "Europe/Lisbon ", "+02:00", "Europe%2FLisbon"];
    expect(others.filter((text) => regexp.test(text))).toEqual([]);
  });
});

describe("parseZoneParameter()", () => {
  const parse = (...values: string[]) =>
    parseZoneParameter({ getAll: (name) => (name === "zone" ? values : []) });

  test("is undefined without the parameter, and else the name", () => {
    expect(parse()).toBeUndefined();
    expect(parse("europe/lisbon")).toBe("Europe/Lisbon");
    expect(parse("America/Argentina/ComodRivadavia")).toBe("America/Argentina/ComodRivadavia");
  });

  test.each(REFUSED)("refuses %j with what is allowed", (text) => {
    const error = catchDomainError(() => parse(text));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(
      /^zone must be the IANA name of a time zone \(Europe\/Lisbon\), got "/,
    );
  });

  test("refuses two zones", () => {
    expect(catchDomainError(() => parse("UTC", "UTC"))?.message).toBe(
      'zone must be given once, got ["UTC","UTC"]',
    );
  });
});
