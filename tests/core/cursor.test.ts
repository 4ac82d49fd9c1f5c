import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  compareShortPositions,
  decodeShortsCursor,
  encodeShortsCursor,
  isShortSelected,
  pageAfter,
  parseShortsRequest,
  type ShortPosition,
} from "../../core/cursor.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";
import {
  identifiers,
  instants,
  listings,
  positions,
  texts,
  utf16Texts,
} from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

function parseQuery(query: string) {
  const parameters = new URLSearchParams(query);
  return parseShortsRequest((name) => parameters.getAll(name));
}

describe("parseShortsRequest()", () => {
  test("reads an empty query as the 20 newest shorts", () => {
    expect(parseQuery("")).toEqual({ limit: 20 });
  });

  test("reads limit, before and cursor together", () => {
    const after = { publishedAt: 5, id: "x" };
    expect(parseQuery(`limit=100&before=1970-01-02&cursor=${encodeShortsCursor(after)}`)).toEqual({
      limit: 100,
      before: 86_400_000,
      after,
    });
  });

  test.each([
    ["limit=0", 'limit must be a whole number from 1 to 100, got "0"'],
    ["limit=101", 'limit must be a whole number from 1 to 100, got "101"'],
    ["limit=1e1", 'limit must be a whole number from 1 to 100, got "1e1"'],
    ["limit=1&limit=1", 'limit must be given once, got ["1","1"]'],
    ["before=2024-01-01&before=2024-01-02", "before must be given once, got "],
    ["before=yesterday", "before must be an ISO 8601 date (2026-11-20) or date-time "],
    ["before=", "before must be an ISO 8601 date"],
    ["before=2026-11-20T08:15+01:00", "before must be an ISO 8601 date"], // its + is a space
    ["cursor=", 'cursor must be the nextCursor of a page of shorts, got ""'],
    ["cursor=0-61&cursor=0-62", 'cursor must be given once, got ["0-61","0-62"]'],
  ])("rejects %s", (query, start) => {
    const error = catchDomainError(() => parseQuery(query));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toStartWith(start);
  });
});

describe("compareShortPositions()", () => {
  test("sorts the newest first, then the greater identifier", () => {
    const listed = [
      { publishedAt: 2, id: "a" },
      { publishedAt: 1, id: "😀" },
      { publishedAt: 1, id: "！" },
      { publishedAt: 1, id: "b" },
      { publishedAt: 1, id: "B" },
      { publishedAt: 1, id: "10" },
      { publishedAt: -1, id: "z" },
    ];
    expect(listed.toReversed().toSorted(compareShortPositions)).toEqual(listed);
  });

  test("is a total order", () => {
    fc.assert(
      fc.property(positions, positions, positions, (a, b, c) => {
        const isSame = a.publishedAt === b.publishedAt && a.id === b.id;
        expect(compareShortPositions(a, b) === 0).toBe(isSame);
        expect(Math.sign(compareShortPositions(a, b))).toBe(
          0 - Math.sign(compareShortPositions(b, a)),
        );
        if (compareShortPositions(a, b) <= 0 && compareShortPositions(b, c) <= 0) {
          expect(compareShortPositions(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });
});

describe("isShortSelected()", () => {
  const short = { publishedAt: 10, id: "m" };

  test("excludes a short published at `before` itself", () => {
    expect(isShortSelected(short, { before: 10 })).toBe(false);
    expect(isShortSelected(short, { before: 11 })).toBe(true);
  });

  test("excludes the short at the cursor and all before it", () => {
    expect(isShortSelected(short, { after: short })).toBe(false);
    expect(isShortSelected(short, { after: { publishedAt: 10, id: "l" } })).toBe(false);
    expect(isShortSelected(short, { after: { publishedAt: 10, id: "n" } })).toBe(true);
    expect(isShortSelected(short, { after: { publishedAt: 11, id: "a" } })).toBe(true);
    expect(isShortSelected(short, { after: { publishedAt: 9, id: "z" } })).toBe(false);
  });

  test("applies both bounds together", () => {
    const after = { publishedAt: 20, id: "a" };
    expect(isShortSelected(short, { before: 11, after })).toBe(true);
    expect(isShortSelected(short, { before: 10, after })).toBe(false);
    expect(isShortSelected(short, { before: 30, after: short })).toBe(false);
  });
});

describe("encodeShortsCursor()", () => {
  test("returns what decodeShortsCursor() decodes, for any position", () => {
    fc.assert(
      fc.property(positions, (position) => {
        expect(decodeShortsCursor(encodeShortsCursor(position))).toEqual(position);
      }),
      {
        examples: [
          [{ publishedAt: FIRST_INSTANT, id: "\u{10ffff}".repeat(256) }],
          [{ publishedAt: LAST_INSTANT, id: "😀".repeat(256) }],
          [{ publishedAt: 0, id: "\u07ff\u0800\uffff\u{10000}" }],
          [{ publishedAt: 0, id: "\ufeffbyte order mark" }],
        ],
      },
    );
  });

  test("writes the form that clients have kept: base 36, then code points in hex", () => {
    const anyIds = fc.oneof(identifiers, texts, utf16Texts, fc.constant("\ufeffbyte order mark"));
    fc.assert(
      fc.property(instants, anyIds, (publishedAt, id) => {
        const hex = Array.from(id, (character) => character.codePointAt(0)?.toString(16));
        const number = (publishedAt - FIRST_INSTANT).toString(36);
        expect(encodeShortsCursor({ publishedAt, id })).toBe([number, ...hex].join("-"));
      }),
      {
        numRuns: 500,
        examples: [
          [FIRST_INSTANT, "a"],
          [LAST_INSTANT, "😀".repeat(1000)],
        ],
      },
    );
  });

  test.each([NaN, 0.5, FIRST_INSTANT - 1])("refuses the instant %d", (publishedAt) => {
    const number = publishedAt - FIRST_INSTANT;
    expect(() => encodeShortsCursor({ publishedAt, id: "a" })).toThrow(
      new RangeError(`A cursor needs a whole number from 0, got ${number}`),
    );
  });

  test("returns text that needs no escaping in a URL", () => {
    fc.assert(
      fc.property(identifiers, (id) => {
        const cursor = encodeShortsCursor({ publishedAt: 0, id });
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(new URLSearchParams({ cursor }).toString()).toBe(`cursor=${cursor}`);
      }),
    );
  });
});

describe("decodeShortsCursor()", () => {
  test.each([
    ["an empty text", ""],
    ["no identifier", "0"],
    ["an empty identifier", "0-"],
    ["no instant", "-61"],
    ["capitals", "0-6A"],
    ["a leading zero", "00-61"],
    ["a leading zero of a character", "0-061"],
    ["a space", "0-61 "],
    ["a line end", "0-61\n"],
    ["a character past the last", "0-110000"],
    ["half a surrogate pair", "0-d83d"],
    ["a surrogate pair in halves", "0-d83d-de00"],
    ["half a surrogate pair before another character", "0-d83d-61"],
    ["the first character of two bytes, a control character", "0-80"],
    ["an empty character", "0-61--62"],
    ["an empty last character", "0-61-"],
    ["a letter past f", "0-6g"],
    ["a character that is no digit", "0-6é"],
    ["a character that is no digit in the instant", "é-61"],
    ["a capital in the instant", "A-61"],
    ["a NUL", "0-0"],
    ["a control character", "0-7f"],
    ["an identifier of 513 characters", `0${"-61".repeat(513)}`],
    ["an instant past the year 9999", "33uymwg000-61"],
    ["an instant past 2^53", "zzzzzzzzzzz-61"],
    ["a very long text", "0-61".repeat(100_000)],
  ])("rejects %s", (_what, cursor) => {
    const error = catchDomainError(() => decodeShortsCursor(cursor));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toStartWith("cursor must be the nextCursor of a page of shorts, got ");
    expect(error?.message.length).toBeLessThan(200);
  });

  test("accepts only what encodeShortsCursor() returns", () => {
    const near = fc.stringMatching(/^[0-9a-z]{1,10}(-[0-9a-f]{1,6}){1,4}$/);
    fc.assert(
      fc.property(fc.oneof(near, texts, utf16Texts), (cursor) => {
        let position: ShortPosition | undefined;
        const error = catchDomainError(() => (position = decodeShortsCursor(cursor)));
        if (position === undefined) expect(error?.code).toBe("Invalid Request");
        else expect(encodeShortsCursor(position)).toBe(cursor);
      }),
      { numRuns: 300 },
    );
  });
});

/** Reads all pages while shorts are inserted; returns the listed and the expected identifiers. */
function readAllPages(
  start: readonly ShortPosition[],
  inserts: readonly ShortPosition[][],
  limit: number,
) {
  const stored = new Map(start.map((position) => [position.id, position]));
  const [seen, due] = [[] as string[], new Set(stored.keys())];
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    const after = cursor === undefined ? undefined : decodeShortsCursor(cursor);
    const listing = [...stored.values()]
      .filter((position) => after === undefined || isShortSelected(position, { after }))
      .toSorted(compareShortPositions);
    const shorts = listing.slice(0, limit);
    seen.push(...shorts.map(({ id }) => id));
    const last = shorts.at(-1);
    if (last === undefined || listing.length <= limit) return { seen, due };
    cursor = encodeShortsCursor(last);
    for (const position of inserts[page] ?? []) {
      if (stored.has(position.id)) continue;
      stored.set(position.id, position);
      // A short inserted after the cursor must be listed; one before it must not.
      if (compareShortPositions(last, position) < 0) due.add(position.id);
    }
  }
}

describe("cursor pagination", () => {
  test("neither skips nor repeats shorts while others are inserted", () => {
    const inserts = fc.array(fc.array(positions, { maxLength: 4 }), { maxLength: 20 });
    fc.assert(
      fc.property(listings, inserts, fc.integer({ min: 1, max: 7 }), (start, added, limit) => {
        const { seen, due } = readAllPages(start, added, limit);
        expect(seen.length).toBe(new Set(seen).size);
        expect(new Set(seen)).toEqual(due);
      }),
      { numRuns: 300 },
    );
  });
});

describe("pageAfter()", () => {
  test("gives what a filter of the whole list gives, and its cursors walk it once", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(positions, { selector: ({ id }) => id, maxLength: 40 }),
        fc.option(positions, { nil: undefined }),
        fc.option(fc.nat(), { nil: undefined }),
        fc.integer({ min: 1, max: 9 }),
        (shorts, after, index, limit) => {
          const sorted = shorts.toSorted(compareShortPositions);
          const before = sorted[(index ?? 0) % (sorted.length || 1)]?.publishedAt;
          const selection = {
            ...(after === undefined ? {} : { after }),
            ...(index === undefined || before === undefined ? {} : { before }),
          };
          const selected = sorted.filter((short) => isShortSelected(short, selection));
          const page = pageAfter(sorted, { ...selection, limit });
          expect(page.items).toEqual(selected.slice(0, limit));
          expect(page.hasMore).toBe(selected.length > limit);
          const walked: ShortPosition[] = [];
          for (let next = page; ;) {
            walked.push(...next.items);
            if (next.nextCursor === null) break;
            next = pageAfter(sorted, {
              ...selection,
              limit,
              after: decodeShortsCursor(next.nextCursor),
            });
          }
          expect(walked).toEqual(selected);
        },
      ),
    );
  });

  test.each([0, -1, 1.5, NaN])("refuses a limit of %d", (limit) => {
    expect(() => pageAfter([], { limit })).toThrow(
      new RangeError(`limit must be a whole number from 1, got ${limit}`),
    );
  });
});
