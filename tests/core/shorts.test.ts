import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCursor } from "../../core/cursor.ts";
import {
  compareShortPositions,
  pageAfter,
  parseShortsRequest,
  type ShortPosition,
  type ShortsRequest,
} from "../../core/shorts.ts";
import { listings, positions } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

function parseQuery(query: string) {
  const parameters = new URLSearchParams(query);
  return parseShortsRequest(parameters);
}

describe("parseShortsRequest()", () => {
  test("reads an empty query as the 20 newest shorts", () => {
    expect(parseQuery("")).toEqual({ limit: 20 });
  });

  test("reads limit, before and cursor together", () => {
    const after = { publishedAt: 5, id: "x" };
    expect(
      parseQuery(`limit=100&before=1970-01-02&cursor=${encodeCursor(["shorts"], 5, "x")}`),
    ).toEqual({
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

const isSelected = (short: ShortPosition, selection: Omit<ShortsRequest, "limit">) =>
  pageAfter([short], { ...selection, limit: 1 }).items.length === 1;

describe("pageAfter() of one short", () => {
  const short = { publishedAt: 10, id: "m" };

  test("excludes a short published at `before` itself", () => {
    expect(isSelected(short, { before: 10 })).toBe(false);
    expect(isSelected(short, { before: 11 })).toBe(true);
  });

  test("excludes the short at the cursor and all before it", () => {
    expect(isSelected(short, { after: short })).toBe(false);
    expect(isSelected(short, { after: { publishedAt: 10, id: "l" } })).toBe(false);
    expect(isSelected(short, { after: { publishedAt: 10, id: "n" } })).toBe(true);
    expect(isSelected(short, { after: { publishedAt: 11, id: "a" } })).toBe(true);
    expect(isSelected(short, { after: { publishedAt: 9, id: "z" } })).toBe(false);
  });

  test("applies both bounds together", () => {
    const after = { publishedAt: 20, id: "a" };
    expect(isSelected(short, { before: 11, after })).toBe(true);
    expect(isSelected(short, { before: 10, after })).toBe(false);
    expect(isSelected(short, { before: 30, after: short })).toBe(false);
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
    const request = parseQuery(cursor === undefined ? "" : `cursor=${cursor}`);
    const sorted = [...stored.values()].toSorted(compareShortPositions);
    const { items, nextCursor } = pageAfter(sorted, { ...request, limit });
    seen.push(...items.map(({ id }) => id));
    const last = items.at(-1);
    if (last === undefined || nextCursor === null) return { seen, due };
    cursor = nextCursor;
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
          const selected = sorted.filter((short) => isSelected(short, selection));
          const page = pageAfter(sorted, { ...selection, limit });
          expect(page.items).toEqual(selected.slice(0, limit));
          expect(page.hasMore).toBe(selected.length > limit);
          const walked: ShortPosition[] = [];
          for (let next = page; ;) {
            walked.push(...next.items);
            if (next.nextCursor === null) break;
            const request = parseQuery(`cursor=${next.nextCursor}`);
            next = pageAfter(sorted, { ...selection, ...request, limit });
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
