import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCursor } from "../../core/cursor.ts";
import type { OwnerKind } from "../../core/kinds.ts";
import { INTEGER_MAX } from "../../core/limits.ts";
import {
  compareListPositions,
  encodeListCursor,
  LIST_ORDERS,
  parseListRequest,
  type ListPosition,
  type ListRequest,
} from "../../core/lists.ts";
import { matchesListFilters } from "../../core/list-filters.ts";
import { SORTS } from "../../core/list-sorts.ts";
import { EMPTY_ENTITY } from "../../core/entities.ts";
import { createUserList } from "../../core/responses/lists.ts";
import { readFields } from "../../core/responses/entity-fields.ts";
import { foldCase } from "../../core/text.ts";
import { identifiers, texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

function parseQuery(query: string, kind: OwnerKind = "channel") {
  const parameters = new URLSearchParams(query);
  return parseListRequest(kind, parameters);
}

/** Encodes any values after those that cursors of {@link VIEWS} begin with. */
const encodeValues = (values: readonly (string | number)[]) =>
  encodeCursor(["channel", "views", "desc", null, null, null, null, ...values]);

/** A list whose cursors the tests encode. */
const VIEWS = { kind: "channel", sort: "views", order: "desc" } as const;

const parseCursor = (
  cursor: string,
  { kind, sort, order }: Pick<ListRequest, "kind" | "sort" | "order">,
) => parseListRequest(kind, new URLSearchParams({ cursor, sort, order })).after;

const figures = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: -INTEGER_MAX, max: INTEGER_MAX }),
);
const positions: fc.Arbitrary<ListPosition> = fc.record({ figure: figures, id: identifiers });
const orders = fc.constantFrom(...LIST_ORDERS);

describe("parseListRequest()", () => {
  test("reads an empty query as the first 100 by the first sort", () => {
    const first = { kind: "channel", sort: "subscribers", order: "desc", limit: 100 };
    expect<object>(parseQuery("")).toEqual(first);
    expect(Object.keys(parseQuery(""))).toEqual(Object.keys(first));
  });

  test("reads all parameters together", () => {
    const after = { figure: -5, id: "UC1" };
    const list = { kind: "channel", sort: "dailySubscriberGain", order: "asc" } as const;
    const filters = { country: "de", search: "äpfel" };
    const cursor = encodeListCursor(after, { ...list, ...filters });
    const query = `sort=dailySubscriberGain&order=asc&limit=7&country=DE&search=%C3%84pfel`;
    expect<object>(parseQuery(`${query}&cursor=${cursor}`)).toEqual({
      ...list,
      ...filters,
      limit: 7,
      after,
    });
  });

  test("leaves country to lists that have one", () => {
    expect(parseQuery("country=DE", "user")).not.toHaveProperty("country");
  });

  test.each([
    ["limit=0", 'limit must be a whole number from 1 to 1000, got "0"'],
    ["limit=1001", 'limit must be a whole number from 1 to 1000, got "1001"'],
    [
      "sort=likes",
      /^sort must be one of subscribers, views, .*, monthlySubscriberGainPercent, got "likes"$/,
    ],
    ["sort=", /^sort must be one of/],
    ["sort=views&sort=views", 'sort must be given once, got ["views","views"]'],
    ["order=up", 'order must be one of desc, asc, got "up"'],
    ["country=", 'country must have 1 to 100 characters, got ""'],
    ["search=", 'search must have 1 to 100 characters, got ""'],
    [`search=${"x".repeat(101)}`, /^search must have 1 to 100 characters, got "x+…$/],
    ["search=%00", /^search must have 1 to 100 characters/],
    [
      "cursor=",
      'cursor must be the nextCursor of a page with the same sort, order and filters, got ""',
    ],
    ["cursor=0&cursor=0", /^cursor must be given once/],
    ["cursor=views-desc-1-61", /^cursor must be the nextCursor/],
  ])("refuses %s with what is allowed", (query, message) => {
    const error = catchDomainError(() => parseQuery(query));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(message);
  });
});

describe("parseListRequest()", () => {
  test.each([
    ["another kind", "sort=dailyFollowerGain", "user"],
    ["another sort", "sort=views", "channel"],
    ["another order", "sort=dailySubscriberGain&order=asc", "channel"],
    ["a country", "sort=dailySubscriberGain&country=de", "channel"],
    ["a search", "sort=dailySubscriberGain&search=a", "channel"],
  ] as const)(
    "refuses the cursor of a list with %s, which belongs to that list",
    (_, query, kind) => {
      const after = { figure: 1, id: "a" };
      const cursor = encodeListCursor(after, parseQuery(query, kind));
      const error = catchDomainError(() => parseQuery(`sort=dailySubscriberGain&cursor=${cursor}`));
      expect(error?.message).toStartWith("cursor must be the nextCursor of a page with the same");
      expect(parseQuery(`${query}&cursor=${cursor}`, kind).after).toEqual(after);
    },
  );
});

describe("compareListPositions()", () => {
  test("lists the greatest first, unknown figures last, and ties by identifier in both orders", () => {
    const list: ListPosition[] = [
      { figure: null, id: "a" },
      { figure: 1, id: "c" },
      { figure: -1, id: "d" },
      { figure: 1, id: "b" },
    ];
    const sort = (order: "asc" | "desc") =>
      list.toSorted((a, b) => compareListPositions(a, b, order)).map(({ id }) => id);
    expect(sort("desc")).toEqual(["b", "c", "d", "a"]);
    expect(sort("asc")).toEqual(["d", "b", "c", "a"]);
  });

  test("is a total order", () => {
    fc.assert(
      fc.property(positions, positions, positions, orders, (a, b, c, order) => {
        const compare = (left: ListPosition, right: ListPosition) =>
          Math.sign(compareListPositions(left, right, order));
        expect(compare(a, b) + compare(b, a)).toBe(0);
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe("encodeListCursor()", () => {
  test.each([0.5, -0.5, Number.NaN, Infinity, -Infinity, INTEGER_MAX + 1])(
    "refuses the figure %d, which parseListRequest() refuses, too",
    (figure) => {
      expect(() => encodeListCursor({ figure, id: "a" }, VIEWS)).toThrow(
        new RangeError(`A cursor needs a whole number, got ${figure}`),
      );
    },
  );

  test("refuses what is no identifier", () => {
    expect(() => encodeListCursor({ figure: null, id: "" }, VIEWS)).toThrow(RangeError);
  });
});

describe("parseListRequest() with a cursor", () => {
  test("returns the position of encodeListCursor()", () => {
    fc.assert(
      fc.property(positions, fc.constantFrom(...SORTS.channel), orders, (position, sort, order) => {
        const list = { kind: "channel", sort, order } as const;
        const cursor = encodeListCursor(position, list);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(parseCursor(cursor, list)).toEqual(position);
      }),
      { examples: [[{ figure: INTEGER_MAX, id: "a" }, "views", "asc"]] },
    );
  });

  test("accepts the cursor after any user, whose identifier is longer in lower case", () => {
    const names = fc.oneof(
      identifiers,
      fc
        .array(fc.constantFrom("İ", "ẞ", "Σ", "😀"), { minLength: 1, maxLength: 256 })
        .map((characters) => characters.join("")),
    );
    fc.assert(
      fc.property(names, orders, (username, order) => {
        const fields = readFields("user", username, EMPTY_ENTITY);
        const last = {
          fields: readFields("user", "last", EMPTY_ENTITY),
          gains: { dailyFollowerGain: null },
        };
        const request = { kind: "user", sort: "dailyFollowerGain", order, limit: 1 } as const;
        const first = { fields, gains: { dailyFollowerGain: 7 } };
        const { pagination } = createUserList([last, first], request);
        const after = parseCursor(pagination.nextCursor ?? "", request);
        expect(after).toEqual({ figure: 7, id: foldCase(username) });
      }),
      { examples: [["İ".repeat(256), "desc"]] },
    );
  });

  test("refuses an identifier of 513 characters", () => {
    const decode = (length: number) => parseCursor(encodeValues([1, "a".repeat(length)]), VIEWS);
    expect(decode(512)?.id).toBe("a".repeat(512));
    expect(catchDomainError(() => decode(513))?.code).toBe("Invalid Request");
  });

  test.each([
    ["another number of values", [1, 1, "a"]],
    ["no identifier", [1]],
    ["a fraction", [0.5, "a"]],
    ["a number past 2^53 - 1", [2 ** 53, "a"]],
    ["a figure as text", ["1", "a"]],
    ["an identifier as number", [1, 1]],
    ["an empty identifier", [1, ""]],
    ["a control character", [1, "\u0085"]],
  ])("refuses a cursor with %s", (_, values) => {
    expect(catchDomainError(() => parseCursor(encodeValues(values), VIEWS))?.code).toBe(
      "Invalid Request",
    );
  });

  test("refuses every text that is not a cursor", () => {
    const cursors = positions.map((position) => encodeListCursor(position, VIEWS));
    const changed = fc.tuple(cursors, texts).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(texts, changed), (text) => {
        let position: ListPosition | undefined;
        try {
          position = parseCursor(text, VIEWS);
        } catch (error) {
          expect(error).toMatchObject({ code: "Invalid Request" });
        }
        if (position !== undefined) expect(encodeListCursor(position, VIEWS)).toBe(text);
      }),
    );
  });
});

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
    // Only A to Z have another case: the long s is not an s, and İ stays as it is.
    expect(parseQuery("country=U%C5%BF")).toMatchObject({ country: "uſ" });
    expect(parseQuery("country=%C4%B0T")).toMatchObject({ country: "İt" });
    expect(matchesListFilters({ ...NASA, country: null }, { country: "us" })).toBe(false);
    expect(matchesListFilters({ username: null, displayName: null }, { country: "us" })).toBe(
      false,
    );
    expect(matchesListFilters(NASA, { country: "us", search: "nasa" })).toBe(true);
    expect(matchesListFilters(NASA, { country: "us", search: "esa" })).toBe(false);
    expect(matchesListFilters(NASA, { country: "de", search: "nasa" })).toBe(false);
  });
});
