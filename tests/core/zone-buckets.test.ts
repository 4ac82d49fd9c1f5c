import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  findBucketEnd,
  findBucketStart,
  findLocalBucket,
  groupIntoBuckets,
  HISTORY_INTERVALS,
} from "../../core/buckets.ts";
import { encodeCursor } from "../../core/cursor.ts";
import { encodeHistoryCursor } from "../../core/history-cursors.ts";
import { findBucketRange, parseHistoryRequest } from "../../core/histories.ts";
import { FIRST_INSTANT, HOUR_MS, LAST_INSTANT } from "../../core/time.ts";
import { catchDomainError } from "../support/domain-error.ts";
import { ZONES } from "../support/zones.ts";

/** A zone, an interval, an instant, and the start and end of its bucket, in UTC. Written by hand. */
const BUCKETS = [
  // The clocks are changed by an hour.
  "Europe/Lisbon day 2026-03-29T12:00 2026-03-29T00:00 2026-03-29T23:00",
  "Europe/Lisbon day 2026-10-25T12:00 2026-10-24T23:00 2026-10-26T00:00",
  "Europe/Lisbon week 2026-10-25T23:30 2026-10-18T23:00 2026-10-26T00:00",
  "Europe/Lisbon month 2026-03-31T22:59 2026-03-01T00:00 2026-03-31T23:00",
  "America/New_York day 2026-03-08T12:00 2026-03-08T05:00 2026-03-09T04:00",
  "America/New_York day 2026-11-01T12:00 2026-11-01T04:00 2026-11-02T05:00",
  "America/New_York month 2026-11-30T12:00 2026-11-01T04:00 2026-12-01T05:00",
  "America/New_York raw 2026-11-01T06:30 2026-11-01T06:30 2026-11-01T06:30:00.001",
  // An hour that repeats is two buckets, and one that is skipped is none.
  "America/New_York hour 2026-11-01T05:30 2026-11-01T05:00 2026-11-01T06:00",
  "America/New_York hour 2026-11-01T06:30 2026-11-01T06:00 2026-11-01T07:00",
  "America/New_York hour 2026-03-08T07:00 2026-03-08T07:00 2026-03-08T08:00",
  // Offsets of half and quarter hours.
  "Asia/Kolkata hour 2026-11-20T12:15 2026-11-20T11:30 2026-11-20T12:30",
  "Asia/Kolkata day 2026-11-20T18:29 2026-11-19T18:30 2026-11-20T18:30",
  "Asia/Kolkata month 2026-11-20T00:00 2026-10-31T18:30 2026-11-30T18:30",
  "Asia/Kathmandu hour 2026-11-20T12:14 2026-11-20T11:15 2026-11-20T12:15",
  "Asia/Kathmandu day 2026-11-20T00:00 2026-11-19T18:15 2026-11-20T18:15",
  "Asia/Kathmandu day 1985-12-31T18:30 1985-12-31T18:30 1986-01-01T18:15",
  "Pacific/Chatham day 2026-09-26T12:00 2026-09-26T11:15 2026-09-27T10:15",
  "Pacific/Chatham day 2026-04-04T12:00 2026-04-04T10:15 2026-04-05T11:15",
  // The clocks are changed by half an hour, and by two hours.
  "Australia/Lord_Howe day 2026-10-03T20:00 2026-10-03T13:30 2026-10-04T13:00",
  "Australia/Lord_Howe hour 2026-10-03T15:45 2026-10-03T15:30 2026-10-03T16:00",
  "Australia/Lord_Howe day 2026-04-04T20:00 2026-04-04T13:00 2026-04-05T13:30",
  "Australia/Lord_Howe hour 2026-04-04T14:45 2026-04-04T14:00 2026-04-04T15:00",
  "Australia/Lord_Howe hour 2026-04-04T15:15 2026-04-04T15:00 2026-04-04T15:30",
  "Antarctica/Troll day 2026-03-29T12:00 2026-03-29T00:00 2026-03-29T22:00",
  "Antarctica/Troll day 2026-10-25T12:00 2026-10-24T22:00 2026-10-26T00:00",
  // 30 December 2011 was skipped, and so was 21 August 1993.
  "Pacific/Apia day 2011-12-30T09:59 2011-12-29T10:00 2011-12-30T10:00",
  "Pacific/Apia day 2011-12-30T10:00 2011-12-30T10:00 2011-12-31T10:00",
  "Pacific/Apia week 2011-12-30T10:00 2011-12-26T10:00 2012-01-01T10:00",
  "Pacific/Apia month 2011-12-31T00:00 2011-12-01T10:00 2011-12-31T10:00",
  "Pacific/Kwajalein day 1993-08-21T11:59 1993-08-20T12:00 1993-08-21T12:00",
  "Pacific/Kwajalein day 1993-08-21T12:00 1993-08-21T12:00 1993-08-22T12:00",
  // At a minute past midnight, the clocks were set back to the evening: the day goes on.
  "America/St_Johns day 2010-11-07T02:29 2010-11-06T02:30 2010-11-07T02:30",
  "America/St_Johns day 2010-11-07T02:30 2010-11-07T02:30 2010-11-08T03:30",
  "America/St_Johns day 2010-11-07T03:00 2010-11-07T02:30 2010-11-08T03:30",
  "America/St_Johns hour 2010-11-07T02:30 2010-11-07T02:30 2010-11-07T02:31",
  // Clocks that are changed at midnight skip the first hour, or repeat the last.
  "America/Sao_Paulo day 2018-11-04T12:00 2018-11-04T03:00 2018-11-05T02:00",
  "America/Sao_Paulo day 2018-02-18T02:30 2018-02-17T02:00 2018-02-18T03:00",
  "America/Havana day 2026-11-01T05:30 2026-11-01T04:00 2026-11-02T05:00",
  // Summer time pauses in Ramadan, and winter time is the exception.
  "Africa/Casablanca day 2026-02-15T12:00 2026-02-14T23:00 2026-02-16T00:00",
  "Africa/Casablanca day 2026-03-22T12:00 2026-03-22T00:00 2026-03-22T23:00",
  "Europe/Dublin day 2026-03-29T12:00 2026-03-29T00:00 2026-03-29T23:00",
  "Europe/Dublin day 2026-10-25T12:00 2026-10-24T23:00 2026-10-26T00:00",
  // Another offset with another meaning, at the same time: nothing changes.
  "Europe/Lisbon day 1996-03-31T12:00 1996-03-30T23:00 1996-03-31T23:00",
  // Local mean time, and an offset with seconds until 1972.
  "Europe/Lisbon day 1911-12-31T12:00 1911-12-31T00:36:45 1912-01-01T00:00",
  "America/New_York day 1883-11-18T12:00 1883-11-18T04:56:02 1883-11-19T05:00",
  "America/New_York hour 1883-11-18T16:59 1883-11-18T16:56:02 1883-11-18T17:00",
  "Africa/Monrovia day 1972-01-06T12:00 1972-01-06T00:44:30 1972-01-07T00:44:30",
  "Africa/Monrovia day 1972-01-07T12:00 1972-01-07T00:44:30 1972-01-08T00:00",
  // With the purchase of Alaska, a date was repeated: one bucket of two days.
  "America/Juneau day 1867-10-19T12:00 1867-10-18T08:57:41 1867-10-20T08:57:41",
].map((line) => line.split(" "));

const zones = fc.constantFrom(...ZONES);
const intervals = fc.constantFrom(...HISTORY_INTERVALS);
/** Few are of any year: of each, the changes of the clocks are searched. */
const instants = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) }) },
  { weight: 1, arbitrary: fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT }) },
);

const parseUtc = (text = "") => Date.parse(`${text}Z`);

describe("findBucketStart() and findBucketEnd()", () => {
  test.each(BUCKETS)("%s: the %s of %s is from %s to %s", (zone, interval, at, start, end) => {
    const name = HISTORY_INTERVALS.find((known) => known === interval) ?? "raw";
    const first = findBucketStart(parseUtc(at), name, zone);
    const bucket = [first, findBucketEnd(first, name, zone)];
    expect(bucket.map((instant) => new Date(instant).toISOString())).toEqual(
      [start, end].map((text) => new Date(parseUtc(text)).toISOString()),
    );
  });

  test("are those in UTC, in the zone UTC", () => {
    fc.assert(
      fc.property(instants, intervals, (at, interval) => {
        expect(findBucketStart(at, interval, "UTC")).toBe(findBucketStart(at, interval));
        const start = findBucketStart(at, interval);
        expect(findBucketEnd(start, interval, "UTC")).toBe(findBucketEnd(start, interval));
      }),
    );
  });
});

describe("findLocalBucket()", () => {
  test("tells the local time of its start", () => {
    const { local } = findLocalBucket(Date.UTC(2026, 10, 20, 20), "week", "Asia/Kolkata");
    expect(local).toBe(Date.UTC(2026, 10, 16));
    const skipped = findLocalBucket(Date.UTC(2018, 10, 4, 12), "day", "America/Sao_Paulo");
    expect(skipped.local).toBe(Date.UTC(2018, 10, 4));
  });
});

describe("findBucketStart() and findBucketEnd() in a time zone", () => {
  test("part all time: an end is the next start, and all between have the same", () => {
    fc.assert(
      fc.property(
        zones,
        instants,
        intervals,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (...given) => {
          const [zone, at, interval, part] = given;
          const start = findBucketStart(at, interval, zone);
          const end = findBucketEnd(start, interval, zone);
          expect(start <= at && at < end).toBe(true);
          const inside = Math.min(end - 1, start + Math.floor(part * (end - start)));
          for (const other of [start, inside, end - 1]) {
            expect(findBucketStart(other, interval, zone)).toBe(start);
            expect(findBucketEnd(other, interval, zone)).toBe(end);
          }
          expect(findBucketStart(end, interval, zone)).toBe(end);
          if (start > FIRST_INSTANT) {
            const before = findBucketStart(start - 1, interval, zone);
            expect(findBucketEnd(before, interval, zone)).toBe(start);
          }
        },
      ),
      { numRuns: 2000 },
    );
  }, 60_000);
});

describe("findLocalBucket() for one hour after another", () => {
  test.each([1, -1])("finds whole hours for three years, in steps of %d", (step) => {
    for (let hour = 0; hour < 3 * 366 * 24; hour++) {
      const at = Date.UTC(2024, 0) + step * hour * HOUR_MS + 1;
      const { start, end } = findLocalBucket(at, "hour", "Asia/Kolkata");
      if (start !== at - 1 - HOUR_MS / 2 || end !== start + HOUR_MS) {
        throw new Error(`Wanted the hour of ${at}, got ${start} to ${end}`);
      }
    }
  });
});

describe("groupIntoBuckets() in a time zone", () => {
  test("has the points of a local day in one bucket", () => {
    const points = ["2026-11-01T03:59", "2026-11-01T04:00", "2026-11-02T04:59", "2026-11-02T05:00"];
    const given = points.map((text, index) => ({ at: parseUtc(text), counts: [index] }));
    expect(groupIntoBuckets(given, "day", "America/New_York")).toEqual([
      { start: parseUtc("2026-10-31T04:00"), observedAt: given[0]?.at ?? 0, counts: [0] },
      { start: parseUtc("2026-11-01T04:00"), observedAt: given[2]?.at ?? 0, counts: [2] },
      { start: parseUtc("2026-11-02T05:00"), observedAt: given[3]?.at ?? 0, counts: [3] },
    ]);
  });
});

const NOW = Date.UTC(2026, 10, 20, 12);
const parseQuery = (query: Readonly<Record<string, string>>) =>
  parseHistoryRequest(new URLSearchParams(query), NOW);

describe("parseHistoryRequest() with a zone", () => {
  test("has the zone, and the instants as without it", () => {
    const query = { from: "2026-11-01", to: "2026-11-02" };
    expect(parseQuery({ ...query, zone: "america/new_york" })).toEqual({
      ...parseQuery(query),
      zone: "America/New_York",
    });
  });

  test("takes the cursor of a page in this zone, and of no other", () => {
    fc.assert(
      fc.property(zones, zones, instants, intervals, (zone, other, at, interval) => {
        const start = findBucketStart(at, interval, zone);
        const cursor = encodeHistoryCursor(start, interval, zone);
        expect(parseQuery({ interval, zone, cursor }).after).toBe(start);
        for (const query of [{}, other === zone ? {} : { zone: other }]) {
          const error = catchDomainError(() => parseQuery({ interval, cursor, ...query }));
          expect(error?.code).toBe("Invalid Request");
        }
        const utc = encodeHistoryCursor(findBucketStart(at, interval), interval);
        expect(catchDomainError(() => parseQuery({ interval, zone, cursor: utc }))?.code).toBe(
          "Invalid Request",
        );
      }),
    );
    const error = catchDomainError(() => parseQuery({ zone: "Asia/Tokyo", cursor: "x" }));
    expect(error?.message).toContain("with the same interval (day) and zone (Asia/Tokyo), got");
  });
});

describe("encodeHistoryCursor()", () => {
  test("names the zone only if there is one", () => {
    const decode = (cursor: string) => JSON.parse(atob(cursor));
    expect(decode(encodeHistoryCursor(0, "day"))).toEqual(["history", "day", 0]);
    expect(decode(encodeHistoryCursor(0, "hour", "Asia/Tokyo"))).toEqual([
      "history",
      "hour",
      "Asia/Tokyo",
      0,
    ]);
    for (const cursor of [
      encodeCursor(["history", "day"], 0, 0),
      encodeCursor(["history", "day"]),
    ]) {
      expect(catchDomainError(() => parseQuery({ cursor }))?.code).toBe("Invalid Request");
    }
  });
});

describe("findBucketRange() in a time zone", () => {
  const findRange = (query: Readonly<Record<string, string>>) => {
    const { start, end } = findBucketRange(parseQuery(query));
    return [start, end].map((instant) => new Date(instant).toISOString().slice(0, 16));
  };

  test("has the whole local days of `from` and of the last instant before `to`", () => {
    const zone = "America/New_York";
    // Without an offset, a date is midnight in UTC: the evening of the day before in New York.
    expect(findRange({ zone, from: "2026-11-01", to: "2026-11-02" })).toEqual([
      "2026-10-31T04:00",
      "2026-11-02T05:00",
    ]);
    expect(
      findRange({ zone, from: "2026-11-01T00:00-04:00", to: "2026-11-02T00:00-05:00" }),
    ).toEqual(["2026-11-01T04:00", "2026-11-02T05:00"]);
  });

  test("begins after the last bucket of the page before", () => {
    const zone = "Pacific/Apia";
    const cursor = encodeHistoryCursor(parseUtc("2011-12-29T10:00"), "day", zone);
    expect(findRange({ zone, cursor, from: "2011-12-01", to: "2012-01-02" })).toEqual([
      "2011-12-30T10:00",
      "2012-01-02T10:00",
    ]);
  });
});
