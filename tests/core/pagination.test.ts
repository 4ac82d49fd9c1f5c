import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import * as fc from "fast-check";
import { INTEGER_MAX } from "../../core/limits.ts";
import {
  computeDaysFilterStart,
  computeDaysFilterValidity,
  filterDays,
  paginate,
  parsePageRequest,
} from "../../core/pagination.ts";
import * as microblogSchemas from "../../core/resources/fields.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";
import { counts, NOW } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const limits = fc.integer({ min: 1, max: 100 });

function parseQuery(query: string) {
  const parameters = new URLSearchParams(query);
  return parsePageRequest(parameters);
}

describe("parsePageRequest()", () => {
  test("reads an empty query as 3 days, page 0, 50 items", () => {
    expect(parseQuery("")).toEqual({ days: 3, page: 0, limit: 50 });
  });

  test("reads all three and ignores other parameters", () => {
    expect(parseQuery("days=14&page=2&limit=1&before=x&Days=99")).toEqual({
      days: 14,
      page: 2,
      limit: 1,
    });
  });

  test.each([
    ["days=0", 'days must be a whole number from 1 to 14, got "0"'],
    ["days=15", 'days must be a whole number from 1 to 14, got "15"'],
    ["page=-1", 'page must be a whole number from 0 to 9007199254740991, got "-1"'],
    ["limit=0", 'limit must be a whole number from 1 to 100, got "0"'],
    ["limit=101", 'limit must be a whole number from 1 to 100, got "101"'],
    ["limit=", 'limit must be a whole number from 1 to 100, got ""'],
    ["limit=1&limit=2", 'limit must be given once, got ["1","2"]'],
  ])("rejects %s", (query, message) => {
    expect(catchDomainError(() => parseQuery(query))).toEqual({
      code: "Invalid Pagination Parameters",
      message,
    });
  });
});

describe("paginate()", () => {
  test("returns an empty page 0 of an empty listing", () => {
    expect(paginate(0, 50, 0)).toEqual({
      page: 0,
      limit: 50,
      total: 0,
      page_count: 0,
      has_more: false,
    });
  });

  test("counts a partly filled last page", () => {
    expect(paginate(0, 50, 51)).toMatchObject({ page_count: 2, has_more: true });
    expect(paginate(1, 50, 51)).toMatchObject({ page_count: 2, has_more: false });
  });

  test("has no page after an exactly full one", () => {
    expect(paginate(0, 50, 50)).toMatchObject({ page_count: 1, has_more: false });
    expect(catchDomainError(() => paginate(1, 50, 50))).toEqual({
      code: "Page Out of Range",
      message: "Page 1 is out of range: 50 items at 50 a page make 1 page, from 0",
    });
  });

  test("writes one item and one page in the singular", () => {
    expect(catchDomainError(() => paginate(1, 50, 1))?.message).toBe(
      "Page 1 is out of range: 1 item at 50 a page makes 1 page, from 0",
    );
  });

  test("writes several pages, and none, in the plural", () => {
    const message = (page: number, total: number) =>
      catchDomainError(() => paginate(page, 50, total))?.message;
    expect(message(9, 60)).toBe(
      "Page 9 is out of range: 60 items at 50 a page make 2 pages, from 0",
    );
    expect(message(1, 0)).toBe("Page 1 is out of range: 0 items at 50 a page make 0 pages, from 0");
  });

  test("rejects any page but 0 of an empty listing", () => {
    expect(catchDomainError(() => paginate(1, 50, 0))?.code).toBe("Page Out of Range");
    expect(catchDomainError(() => paginate(INTEGER_MAX, 1, 0))?.code).toBe("Page Out of Range");
  });

  test("partitions a listing into pages, for any limit", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 300 }), limits, (listing, limit) => {
        const pages: number[][] = [];
        let more = true;
        while (more) {
          const page = paginate(pages.length, limit, listing.length);
          const start = page.page * limit;
          pages.push(listing.slice(start, start + limit));
          more = page.has_more;
          expect(page.total).toBe(listing.length);
        }
        expect(pages.flat()).toEqual(listing);
        expect(pages.slice(0, -1).every((items) => items.length === limit)).toBe(true);
        if (listing.length > 0) expect(pages.at(-1)).not.toEqual([]);
        expect(catchDomainError(() => paginate(pages.length, limit, listing.length))?.code).toBe(
          "Page Out of Range",
        );
      }),
    );
  });

  test("counts pages exactly up to 2^53 - 1 items", () => {
    fc.assert(
      fc.property(counts, limits, (total, limit) => {
        const pages = (BigInt(total) + BigInt(limit) - 1n) / BigInt(limit);
        expect(BigInt(paginate(0, limit, total).page_count)).toBe(pages);
      }),
    );
  });

  test("returns what its schema allows", () => {
    fc.assert(
      fc.property(counts, limits, (total, limit) => {
        expect(Value.Check(microblogSchemas.Pagination, paginate(0, limit, total))).toBe(true);
      }),
    );
  });
});

test.each([
  [-1, 1, 0, "page must be a whole number from 0, got -1"],
  [0, 0, 0, "limit must be a whole number from 1, got 0"],
  [0, 1, -1, "total must be a whole number from 0, got -1"],
  [NaN, 1, 0, "page must be a whole number from 0, got NaN"],
  [0, 1.5, 9, "limit must be a whole number from 1, got 1.5"],
  [0, 1, Infinity, "total must be a whole number from 0, got Infinity"],
])("paginate(%d, %d, %d) is a RangeError", (page, limit, total, message) => {
  expect(() => paginate(page, limit, total)).toThrow(new RangeError(message));
});

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
