import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_FIELDS } from "../../core/entity-kinds.ts";
import { GAIN_DEFINITIONS } from "../../core/growth.ts";
import { INTEGER_MAX } from "../../core/limits.ts";
import {
  CHANNEL_SORT_FIELDS,
  CHANNEL_SORTS,
  compareListPositions,
  decodeListCursor,
  encodeListCursor,
  hasListParameter,
  LIST_ORDERS,
  parseListRequest,
  USER_SORT_FIELDS,
  USER_SORTS,
  type ListPosition,
} from "../../core/lists.ts";
import { EMPTY_ENTITY } from "../../core/entities.ts";
import { createUserList } from "../../core/resources/list-resources.ts";
import { readUserFields } from "../../core/resources/microblog-resources.ts";
import { foldCase } from "../../core/text.ts";
import { identifiers, texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const OPTIONS = { sorts: CHANNEL_SORTS, hasCountry: true };

function parseQuery(query: string, options = OPTIONS) {
  const parameters = new URLSearchParams(query);
  return parseListRequest((name) => parameters.getAll(name), options);
}

const figures = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: -INTEGER_MAX, max: INTEGER_MAX }),
);
const positions: fc.Arbitrary<ListPosition> = fc.record({ figure: figures, id: identifiers });
const orders = fc.constantFrom(...LIST_ORDERS);

describe("parseListRequest()", () => {
  test("reads an empty query as the first 100 by the first sort", () => {
    expect(parseQuery("")).toEqual({ sort: "subscribers", order: "desc", limit: 100 });
    expect(Object.keys(parseQuery(""))).toEqual(["sort", "order", "limit"]);
  });

  test("reads all parameters together", () => {
    const after = { figure: -5, id: "UC1" };
    const cursor = encodeListCursor(after, "dailyGain", "asc");
    const query = `sort=dailyGain&order=asc&limit=7&country=DE&search=%C3%84pfel&cursor=${cursor}`;
    expect(parseQuery(query)).toEqual({
      sort: "dailyGain",
      order: "asc",
      limit: 7,
      country: "de",
      search: "äpfel",
      after,
    });
  });

  test("leaves country to lists that have one", () => {
    expect(parseQuery("country=DE", { ...OPTIONS, hasCountry: false })).not.toHaveProperty(
      "country",
    );
  });

  test.each([
    ["limit=0", 'limit must be a whole number from 1 to 1000, got "0"'],
    ["limit=1001", 'limit must be a whole number from 1 to 1000, got "1001"'],
    ["sort=likes", /^sort must be one of subscribers, views, .*, monthlyViews, got "likes"$/],
    ["sort=", /^sort must be one of/],
    ["sort=views&sort=views", 'sort must be given once, got ["views","views"]'],
    ["order=up", 'order must be one of desc, asc, got "up"'],
    ["country=", 'country must have 1 to 100 characters, got ""'],
    ["search=", 'search must have 1 to 100 characters, got ""'],
    [`search=${"x".repeat(101)}`, /^search must have 1 to 100 characters, got "x+…$/],
    ["search=%00", /^search must have 1 to 100 characters/],
    ["cursor=", 'cursor must be the nextCursor of a page with the same sort and order, got ""'],
    ["cursor=0&cursor=0", /^cursor must be given once/],
    ["cursor=views-desc-1-61", /^cursor must be the nextCursor/],
    ["cursor=subscribers-asc-1-61", /^cursor must be the nextCursor/],
    ["cursor=subscribers-desc-1-", /^cursor must be the nextCursor/],
    ["cursor=subscribers-desc-zzzzzzzzzzz-61", /^cursor must be the nextCursor/],
  ])("refuses %s with what is allowed", (query, message) => {
    const error = catchDomainError(() => parseQuery(query));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(message);
  });
});

describe("hasListParameter()", () => {
  const hasParameter = (query: string) => {
    const parameters = new URLSearchParams(query);
    return hasListParameter((name) => parameters.getAll(name));
  };

  test.each(["limit", "cursor", "sort", "order", "country", "search"])("sees %s", (name) => {
    expect(hasParameter(`format=csv&${name}=`)).toBe(true);
  });

  test("sees nothing in a query with other parameters", () => {
    expect(hasParameter("")).toBe(false);
    expect(hasParameter("format=csv&Limit=1")).toBe(false);
  });
});

describe("the fields of sorts", () => {
  test("CHANNEL_SORT_FIELDS are counts and gains of a channel, each once", () => {
    expect(CHANNEL_SORT_FIELDS).toMatchObject({
      subscribers: "subscribers",
      views: "viewCount",
      videos: "videoCount",
    });
    expect(Object.keys(CHANNEL_SORT_FIELDS)).toEqual([...CHANNEL_SORTS]);
    const known = [...ENTITY_FIELDS.channel.counts, ...Object.keys(GAIN_DEFINITIONS.channel)];
    expect(Object.values(CHANNEL_SORT_FIELDS).toSorted()).toEqual(known.toSorted());
  });

  test("USER_SORT_FIELDS are the followers and the gains of a user", () => {
    const gains = Object.keys(GAIN_DEFINITIONS.user).map((name) => [name, name]);
    expect(USER_SORT_FIELDS).toEqual({
      followers: "followers_count",
      ...Object.fromEntries(gains),
    });
    expect(Object.keys(USER_SORT_FIELDS)).toEqual([...USER_SORTS]);
  });
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
    "refuses the figure %d, which decodeListCursor() refuses, too",
    (figure) => {
      expect(() => encodeListCursor({ figure, id: "a" }, "views", "desc")).toThrow(
        new RangeError(`A cursor needs a whole number, got ${Math.abs(figure)}`),
      );
    },
  );

  test("refuses what is no identifier", () => {
    expect(() => encodeListCursor({ figure: null, id: "" }, "views", "desc")).toThrow(RangeError);
  });
});

describe("decodeListCursor()", () => {
  test("returns the position of encodeListCursor()", () => {
    fc.assert(
      fc.property(positions, fc.constantFrom(...CHANNEL_SORTS), orders, (position, sort, order) => {
        const cursor = encodeListCursor(position, sort, order);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeListCursor(cursor, sort, order)).toEqual(position);
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
        const fields = readUserFields(username, EMPTY_ENTITY);
        const last = { fields: readUserFields("last", EMPTY_ENTITY), gains: { dailyGain: null } };
        const request = { sort: "dailyGain", order, limit: 1 } as const;
        const { pagination } = createUserList([last, { fields, gains: { dailyGain: 7 } }], request);
        const after = decodeListCursor(pagination.nextCursor ?? "", "dailyGain", order);
        expect(after).toEqual({ figure: 7, id: foldCase(username) });
      }),
      { examples: [["İ".repeat(256), "desc"]] },
    );
  });

  test("refuses an identifier of 513 characters", () => {
    const decode = (length: number) =>
      decodeListCursor(`views-desc-1${"-61".repeat(length)}`, "views", "desc");
    expect(decode(512).id).toBe("a".repeat(512));
    expect(catchDomainError(() => decode(513))?.code).toBe("Invalid Request");
    // The most text that is decoded, of the fewest digits a byte.
    expect(catchDomainError(() => decode(1190))?.code).toBe("Invalid Request");
  });

  test("writes the form that clients have kept", () => {
    fc.assert(
      fc.property(positions, (position) => {
        const hex = Array.from(position.id, (character) => character.codePointAt(0)?.toString(16));
        const figure = position.figure?.toString(36).replace("-", "_") ?? "";
        const cursor = ["views", "asc", figure, ...hex].join("-");
        expect(encodeListCursor(position, "views", "asc")).toBe(cursor);
      }),
      { examples: [[{ figure: -0, id: "a" }], [{ figure: -INTEGER_MAX, id: "a" }]] },
    );
  });

  test.each([
    "views-desc-_0-61",
    "views-desc-_-61",
    "views-desc-01-61",
    "views-desc-__1-61",
    "views-desc-2gosa7pa2gw-61", // 2^53
    "views-desc-_2gosa7pa2gw-61",
    "views-desc-1",
    "views-desc-",
    "views-desc",
    "views-desc-1-",
    "Views-desc-1-61",
  ])("refuses %s", (cursor) => {
    expect(catchDomainError(() => decodeListCursor(cursor, "views", "desc"))?.code).toBe(
      "Invalid Request",
    );
  });

  test("refuses every text that is not a cursor", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          texts.map((text) => `views-desc-1-${text}`),
        ),
        (text) => {
          let position: ListPosition | undefined;
          try {
            position = decodeListCursor(text, "views", "desc");
          } catch (error) {
            expect(error).toMatchObject({ code: "Invalid Request" });
          }
          if (position !== undefined)
            expect(encodeListCursor(position, "views", "desc")).toBe(text);
        },
      ),
    );
  });
});
