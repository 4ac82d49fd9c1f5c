/** The filters of lists: parsed values, rules, and what their cursors tell apart. */
import { describe, expect, test } from "bun:test";
import type { EntityKind } from "../../core/kinds.ts";
import { INTEGER_MAX } from "../../core/limits.ts";
import { encodeFilters, matchesListFilters, parseFilters } from "../../core/list-filters.ts";
import { encodeListCursor, parseItemListRequest, parseListRequest } from "../../core/lists.ts";
import { catchDomainError } from "../support/domain-error.ts";

const parse = (query: string, kind: EntityKind) => parseFilters(new URLSearchParams(query), kind);

describe("parseFilters()", () => {
  test("reads the filters that a kind has, and no others", () => {
    const query = "minSubscribers=7&minFollowers=8&from=2026-01-01&country=DE&search=A";
    expect(parse(query, "channel")).toEqual({ country: "de", search: "a", minSubscribers: 7 });
    expect(parse(query, "user")).toEqual({ search: "a", minFollowers: 8 });
    expect(parse(query, "short")).toEqual({ from: Date.UTC(2026, 0, 1) });
    expect(parse("channels=a,b&to=2026-01-02T03:04", "short")).toEqual({
      names: ["a", "b"],
      to: Date.UTC(2026, 0, 2, 3, 4),
    });
    expect(parse("usernames=nasa&channels=a", "tweet")).toEqual({ names: ["nasa"] });
    expect(parse("list=Rivals", "tweet")).toEqual({ list: "Rivals" });
  });

  test.each([
    [
      "channel",
      "minSubscribers=",
      `minSubscribers must be a whole number from 0 to ${INTEGER_MAX}, got ""`,
    ],
    ["channel", "minSubscribers=1.5", /^minSubscribers must be/],
    ["channel", `minSubscribers=${INTEGER_MAX + 1}`, /^minSubscribers must be/],
    ["user", "minFollowers=-1", /^minFollowers must be/],
    ["user", "minFollowers=1&minFollowers=1", /^minFollowers must be given once/],
    ["short", "channels=", /^Each name of channels must be text/],
    ["short", `channels=${"a,".repeat(100)}b`, "channels must be 1 to 100 names, got 101 names"],
    [
      "short",
      `channels=${"a".repeat(5001)}`,
      "channels must have at most 5000 characters, got 5001",
    ],
    ["short", "channels=a&list=b", "The query must have either channels or list, got both"],
    ["tweet", "usernames=a&list=b", "The query must have either usernames or list, got both"],
    ["tweet", "from=x", /^from must be an ISO 8601 date/],
  ] as const)("of a list of %s refuses %s", (kind, query, message) => {
    const error = catchDomainError(() => parse(query, kind));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(message);
  });
});

describe("matchesListFilters()", () => {
  test("leaves out counts below a floor, and unknown ones", () => {
    for (const [subscribers, matches] of [
      [7, true],
      [8, true],
      [6, false],
      [null, false],
    ] as const) {
      expect(matchesListFilters({ subscribers }, { minSubscribers: 7 })).toBe(matches);
      expect(matchesListFilters({ followers_count: subscribers }, { minFollowers: 7 })).toBe(
        matches,
      );
    }
    expect(matchesListFilters({ subscribers: null }, { minSubscribers: 0 })).toBe(false);
  });

  test("selects publications from `from` on and before `to`", () => {
    const range = { from: 5, to: 8 };
    const matches = [4, 5, 7, 8].map((at) => matchesListFilters({ publishedAt: at }, range));
    expect(matches).toEqual([false, true, true, false]);
    expect(matchesListFilters({ created_at: 5 }, range)).toBe(true);
  });
});

describe("encodeFilters()", () => {
  test("tells names apart, and a saved list by its name in any case, whatever names it has", () => {
    const encode = (filters: object) => encodeFilters("short", filters).join();
    expect(encode({ names: ["a", "b"] })).not.toBe(encode({ names: ["b", "a"] }));
    expect(encode({ list: "Rivals", names: ["a"] })).toBe(encode({ list: "RIVALS", names: ["b"] }));
    expect(encode({ from: 1 })).not.toBe(encode({ to: 1 }));
  });
});

describe("parseItemListRequest()", () => {
  test("adds the figure of the sort to the usual columns, once", () => {
    const fields = (query: string) =>
      parseItemListRequest("short", new URLSearchParams(query)).fields;
    expect(fields("sort=ageMultiple").at(-1)).toBe("ageMultiple");
    expect(fields("sort=views")).toEqual(fields(""));
    expect(fields("fields=trend,views")).toEqual(["trend", "views"]);
  });

  test("returns the exact position of a cursor, whatever fraction its figure has", () => {
    for (const figure of [0.1 + 0.2, -12.3457, 375_299_968_947_541.44, 1e21, 0, null]) {
      const list = { kind: "short", sort: "ageMultiple", order: "desc" } as const;
      const cursor = encodeListCursor({ figure, id: "a" }, list);
      const query = new URLSearchParams({ cursor, sort: "ageMultiple" });
      expect(parseListRequest("short", query).after).toEqual({ figure, id: "a" });
    }
  });

  test("refuses a range that ends before it begins", () => {
    const query = new URLSearchParams("from=2026-01-02&to=2026-01-02");
    const error = catchDomainError(() => parseItemListRequest("tweet", query));
    expect(error?.message).toStartWith("from must be before to, got from 2026-01-02");
  });
});
