import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { findBucketStart, HISTORY_INTERVALS, type HistoryInterval } from "../../core/buckets.ts";
import { encodeCursor } from "../../core/cursor.ts";
import { findBucketRange, parseHistoryRequest } from "../../core/histories.ts";
import { encodeHistoryCursor } from "../../core/history-cursors.ts";
import { DAY_MS, FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";
import { texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const NOW = Date.UTC(2026, 10, 20, 12);

function parseQuery(query: string) {
  const parameters = new URLSearchParams(query);
  return parseHistoryRequest(parameters, NOW);
}

describe("parseHistoryRequest()", () => {
  test("reads an empty query as the last 30 days by day, to the newest point", () => {
    expect(parseQuery("")).toEqual({
      from: NOW - 30 * DAY_MS,
      to: LAST_INSTANT + 1,
      interval: "day",
      limit: 1000,
    });
  });

  test("counts the 30 days back from `to` where it is given", () => {
    const to = Date.UTC(2026, 2, 31);
    expect(parseQuery("to=2026-03-31")).toMatchObject({ from: to - 30 * DAY_MS, to });
    expect(parseQuery("to=0000-01-02")).toMatchObject({ from: FIRST_INSTANT });
    expect(parseQuery("from=2026-03-31")).toMatchObject({ from: to });
  });

  test("reads all parameters together", () => {
    const after = Date.UTC(2026, 0, 5);
    const cursor = encodeHistoryCursor(after, "week");
    const query = `from=2026-01-01&to=2026-02-01T12:00&interval=week&limit=7&cursor=${cursor}`;
    expect(parseQuery(query)).toEqual({
      from: Date.UTC(2026, 0, 1),
      to: Date.UTC(2026, 1, 1, 12),
      interval: "week",
      limit: 7,
      after,
    });
  });

  test.each([
    ["limit=0", 'limit must be a whole number from 1 to 1000, got "0"'],
    ["limit=1001", 'limit must be a whole number from 1 to 1000, got "1001"'],
    ["limit=1&limit=2", 'limit must be given once, got ["1","2"]'],
    ["from=yesterday", /^from must be an ISO 8601 date .*, got "yesterday"$/],
    ["to=2026-02-30", /^to must be an ISO 8601 date .* that exists, got "2026-02-30"$/],
    ["from=&to=", /^to must be an ISO 8601 date/],
    [
      "from=2026-01-02&to=2026-01-02",
      'from must be before to, got from "2026-01-02" and to "2026-01-02"',
    ],
    ["from=2026-01-03&to=2026-01-02", /^from must be before to, got /],
    ["to=0000-01-01", 'from must be before to, got from "" and to "0000-01-01"'],
    ["from=2026-01-02&from=2026-01-02", /^from must be given once/],
    ["to=2026-01-02&to=2026-01-02", /^to must be given once/],
    ["cursor=0&cursor=0", /^cursor must be given once/],
    ["interval=year", 'interval must be one of raw, hour, day, week, month, got "year"'],
    ["interval=Day", /^interval must be one of/],
    ["interval=", /^interval must be one of/],
    ["cursor=", /^cursor must be the nextCursor of a page of this history, .*, got ""$/],
    ["cursor=day-mo7wcx6o0", /^cursor must be the nextCursor/],
    ["cursor=next", /^cursor must be the nextCursor/],
    ["cursor=null&interval=raw", /^cursor must be the nextCursor/],
    [
      `cursor=${encodeHistoryCursor(Date.UTC(2026, 5, 1), "month")}&interval=week`,
      /with the same interval \(week\), got "Wy/,
    ],
  ])("refuses %s with what is allowed", (query, message) => {
    const error = catchDomainError(() => parseQuery(query));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(message);
  });
});

describe("findBucketRange()", () => {
  const findRange = (query: string) => findBucketRange(parseQuery(query));

  test("has the whole buckets of `from` and of the last instant before `to`", () => {
    expect(findRange("from=2026-01-10T15:00&to=2026-02-10T00:01&interval=month")).toEqual({
      start: Date.UTC(2026, 0, 1),
      end: Date.UTC(2026, 2, 1),
    });
    expect(findRange("from=2026-01-10&to=2026-02-01&interval=month")).toEqual({
      start: Date.UTC(2026, 0, 1),
      end: Date.UTC(2026, 1, 1),
    });
    expect(findRange("from=2026-01-10T00:00:00.007&to=2026-01-11&interval=raw")).toEqual({
      start: Date.UTC(2026, 0, 10) + 7,
      end: Date.UTC(2026, 0, 11),
    });
  });

  test("starts after a page at the end of its last bucket, but not before `from`", () => {
    const cursor = encodeHistoryCursor(Date.UTC(2026, 0, 1), "month");
    const startOf = (query: string) => findRange(`${query}&cursor=${cursor}&interval=month`).start;
    expect(startOf("from=2026-01-10")).toBe(Date.UTC(2026, 1, 1));
    expect(startOf("from=2026-03-10")).toBe(Date.UTC(2026, 2, 1));
  });

  test("starts after the whole bucket in which `after` is", () => {
    const after = Date.UTC(2026, 0, 5);
    const { start } = findBucketRange({ ...parseQuery("interval=month&from=2026-01-01"), after });
    expect(start).toBe(Date.UTC(2026, 1, 1));
  });

  test("selects nothing if `from` is not before `to`, and everything between infinities", () => {
    const request = { interval: "week", limit: 1 } as const;
    const { start, end } = findBucketRange({ ...request, from: NOW, to: NOW });
    expect(start).toBe(end);
    expect(findBucketRange({ ...request, from: -Infinity, to: Infinity })).toEqual({
      start: FIRST_INSTANT,
      // The Monday after the year 9999.
      end: Date.UTC(10_000, 0, 3),
    });
  });
});

/** The start of the last bucket of the page before, which the cursor of a request has. */
const parseCursor = (cursor: string, interval: HistoryInterval) =>
  parseHistoryRequest(new URLSearchParams({ cursor, interval }), NOW).after;

/** Encodes any values of JSON. */
const encodeAny = (...values: readonly unknown[]) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(values))));

const intervals = fc.constantFrom(...HISTORY_INTERVALS);

describe("encodeHistoryCursor()", () => {
  test("encodes what parseHistoryRequest() decodes, and nothing else", () => {
    const numbers = fc.oneof(
      fc.integer(),
      fc.double(),
      fc.maxSafeInteger(),
      fc.constantFrom(FIRST_INSTANT, FIRST_INSTANT - 1, LAST_INSTANT, LAST_INSTANT + 1, -DAY_MS),
    );
    fc.assert(
      fc.property(numbers, intervals, (number, interval) => {
        // Not -0, which is another number than the decoded 0.
        const start = number + 0;
        let cursor: string | undefined;
        try {
          cursor = encodeHistoryCursor(start, interval);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
        if (cursor !== undefined) expect(parseCursor(cursor, interval)).toBe(start);
      }),
    );
  });

  test.each([
    ["raw", LAST_INSTANT + 1],
    ["raw", FIRST_INSTANT - 1],
    ["raw", 0.5],
    ["raw", Number.NaN],
    ["day", 1],
    ["week", 0],
    ["month", Infinity],
  ] as const)("refuses %s and %d", (interval, start) => {
    expect(() => encodeHistoryCursor(start, interval)).toThrow(
      new RangeError(`A cursor needs an instant at which a bucket starts, got ${start}`),
    );
  });
});

describe("parseHistoryRequest() with a cursor", () => {
  test("returns the instant of encodeHistoryCursor()", () => {
    const longest = encodeHistoryCursor(FIRST_INSTANT, "month").length;
    const instants = fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT });
    fc.assert(
      fc.property(instants, intervals, (at, interval) => {
        const start = findBucketStart(at, interval);
        const cursor = encodeHistoryCursor(start, interval);
        expect(parseCursor(cursor, interval)).toBe(start);
        expect(cursor.length).toBeLessThanOrEqual(longest);
        expect(encodeURIComponent(cursor)).toBe(cursor);
      }),
      { examples: [[LAST_INSTANT, "month"]] },
    );
  });

  test("refuses every text that is not a cursor", () => {
    const someTexts = fc.oneof(
      texts,
      fc.tuple(intervals, fc.jsonValue()).map(([name, value]) => encodeAny("history", name, value)),
      fc.tuple(fc.string(), intervals, fc.nat()).map((values) => encodeAny(...values)),
    );
    fc.assert(
      fc.property(someTexts, intervals, (text, interval) => {
        let start: number | undefined;
        try {
          start = parseCursor(text, interval);
        } catch (error) {
          expect(error).toMatchObject({ code: "Invalid Request" });
        }
        if (start !== undefined) expect(encodeHistoryCursor(start, interval)).toBe(text);
      }),
    );
  });

  test.each([
    "next",
    "null",
    "undefined",
    "0",
    "day-mo7wcx6o0",
    encodeCursor(["day", 86_400_000]),
    encodeCursor(["history", "day", 1]),
    encodeCursor(["history", "day", "86400000"]),
    encodeCursor(["history", "week", 4 * 86_400_000]),
    `${encodeCursor(["history", "day", 86_400_000])}=`,
  ])("refuses %s, which is no cursor by day, with what is allowed", (cursor) => {
    const error = catchDomainError(() => parseCursor(cursor, "day"));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toBe(
      "cursor must be the nextCursor of a page of this history, with the same interval (day), " +
        `got "${cursor}"`,
    );
  });

  test("refuses the cursor of any other interval", () => {
    fc.assert(
      fc.property(fc.nat(NOW), intervals, intervals, (at, made, asked) => {
        fc.pre(made !== asked);
        const cursor = encodeHistoryCursor(findBucketStart(at, made), made);
        expect(catchDomainError(() => parseCursor(cursor, asked))?.code).toBe("Invalid Request");
      }),
    );
  });
});
