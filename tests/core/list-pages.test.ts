import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { cutListPage, matchesListFilters } from "../../core/list-pages.ts";
import { compareListPositions, decodeListCursor, LIST_ORDERS } from "../../core/lists.ts";

const NASA = { username: "NASA_Moon", displayName: "Älter Space", country: "US" };

describe("matchesListFilters()", () => {
  test("shows every entity without filters", () => {
    expect(matchesListFilters({ username: null, displayName: null }, {})).toBe(true);
  });

  test.each(["mo", "nasa", "oon", "_moon", "älter", "er sp"])("finds %s", (search) => {
    expect(matchesListFilters(NASA, { search })).toBe(search !== "mo");
  });

  test("finds less than three characters at the beginning of usernames only", () => {
    expect(matchesListFilters(NASA, { search: "na" })).toBe(true);
    expect(matchesListFilters(NASA, { search: "as" })).toBe(false);
    expect(matchesListFilters(NASA, { search: "äl" })).toBe(false);
    expect(matchesListFilters({ username: "a😀b", displayName: null }, { search: "😀b" })).toBe(
      false,
    );
    expect(matchesListFilters({ username: "xa😀b", displayName: null }, { search: "a😀b" })).toBe(
      true,
    );
  });

  test("finds nothing in unknown names", () => {
    expect(matchesListFilters({ username: null, displayName: null }, { search: "a" })).toBe(false);
    expect(matchesListFilters({ username: null, displayName: null }, { search: "abc" })).toBe(
      false,
    );
    expect(matchesListFilters({ username: null, displayName: null }, { search: "str" })).toBe(
      false,
    );
    expect(matchesListFilters({ username: null, displayName: "abc" }, { search: "abc" })).toBe(
      true,
    );
  });

  test("compares the country whole, in any case, and applies both filters", () => {
    expect(matchesListFilters(NASA, { country: "us" })).toBe(true);
    expect(matchesListFilters(NASA, { country: "u" })).toBe(false);
    expect(matchesListFilters({ ...NASA, country: null }, { country: "us" })).toBe(false);
    expect(matchesListFilters({ username: null, displayName: null }, { country: "us" })).toBe(
      false,
    );
    expect(matchesListFilters(NASA, { country: "us", search: "nasa" })).toBe(true);
    expect(matchesListFilters(NASA, { country: "us", search: "esa" })).toBe(false);
    expect(matchesListFilters(NASA, { country: "de", search: "nasa" })).toBe(false);
  });
});

describe("cutListPage()", () => {
  test("lists every item once, in order, over all pages", () => {
    const item = fc.record({
      id: fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", "é", "😀") }),
      figure: fc.option(fc.integer({ min: -2, max: 2 })),
    });
    const lists = fc.uniqueArray(item, { selector: ({ id }) => id, maxLength: 20 });
    const order = fc.constantFrom(...LIST_ORDERS);
    fc.assert(
      fc.property(lists, order, fc.integer({ min: 1, max: 6 }), (items, direction, limit) => {
        const request = { kind: "channel", sort: "views", order: direction, limit } as const;
        const listed = [];
        let cursor: string | null | undefined;
        for (let page = 0; page <= items.length && cursor !== null; page++) {
          const after = cursor === undefined ? {} : { after: decodeListCursor(cursor, request) };
          const { items: found, nextCursor } = cutListPage(items, { ...request, ...after });
          listed.push(...found);
          cursor = nextCursor;
        }
        expect(listed).toEqual(items.toSorted((a, b) => compareListPositions(a, b, direction)));
      }),
    );
  });
});
