import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseBatchRequest, parseComparisonRequest } from "../../core/batch.ts";
import type { OwnerKind } from "../../core/kinds.ts";
import { parseHistoryRequest } from "../../core/histories.ts";
import { isIdentifier } from "../../core/text.ts";
import { catchDomainError } from "../support/domain-error.ts";

const NOW = Date.UTC(2026, 10, 20, 12);

const KINDS = [
  ["channel", "channels"],
  ["user", "usernames"],
] as const;

const names = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((name) => isIdentifier(name));

describe.each(KINDS)("parseBatchRequest() of a %s", (kind, field) => {
  test("returns 1 to 100 names in their order, repeated ones too", () => {
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 100 }), (sent) => {
        expect(parseBatchRequest(kind, { [field]: sent })).toEqual({ names: sent });
      }),
    );
  });

  test("reads 100 names", () => {
    const { names: read } = parseBatchRequest(kind, { [field]: Array(100).fill("a") });
    expect(read).toHaveLength(100);
  });

  test("reads the name of a saved list in place of names", () => {
    expect(parseBatchRequest(kind, { list: "My rivals" })).toEqual({
      names: [],
      list: "My rivals",
    });
  });

  test.each([
    [null, `The body must be an object with ${field} or list, got null`],
    ["a", `The body must be an object with ${field} or list, got "a"`],
    [["a"], `The body must be an object with ${field} or list, got ["a"]`],
    [{}, `${field} must be a list of 1 to 100 names, got undefined`],
    [{ [field]: "a" }, `${field} must be a list of 1 to 100 names, got "a"`],
    [{ [field]: { length: 1 } }, `${field} must be a list of 1 to 100 names, got {"length":1}`],
    [{ [field]: [] }, `${field} must be 1 to 100 names, got 0 names`],
    [{ [field]: Array(101).fill("a") }, `${field} must be 1 to 100 names, got 101 names`],
    [{ [field]: ["a"], days: 3 }, `The body must have no field but ${field} or list, got "days"`],
    [{ [field]: ["a"], list: "b" }, `The body must have either ${field} or list, got both`],
    [{ list: null }, /^list must be a name of 1 to 64 characters .*, got null$/],
    [{ list: ".." }, /^list must be a name of 1 to 64 characters .*, got "\.\."$/],
    [{ [field]: ["a"], ["__proto__"]: 1 }, /^The body must have no field but .*, got "__proto__"$/],
    ...[7, null, "", "a\u0000", "\ud800", "x".repeat(257), ["a"]].map(
      (name) =>
        [
          { [field]: ["a", name] },
          /^\w+\[1\] must be text of 1 to 256 characters without control characters, got /,
        ] as const,
    ),
  ])("refuses %j with what is allowed", (body, message) => {
    const error = catchDomainError(() => parseBatchRequest(kind, body));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(message);
  });
});

const parseQuery = (kind: OwnerKind, query: string) => {
  const parameters = new URLSearchParams(query);
  return parseComparisonRequest(kind, parameters, NOW);
};

describe("parseComparisonRequest()", () => {
  test("reads 10 names", () => {
    const sent = Array(10).fill("a");
    expect(parseQuery("channel", `channels=${sent.join()}`).names).toEqual(sent);
  });

  test.each([
    ["channel", "channels=a,b,a", "subscribers", 0],
    ["channel", "channels=a,b,a&count=viewCount", "viewCount", 2],
    ["user", "usernames=a%2Cb%2Ca", "followers_count", 0],
    ["user", "usernames=a,b,a&count=tweet_count", "tweet_count", 2],
  ] as const)("of a %s reads %s", (kind, query, count, countIndex) => {
    const history = parseHistoryRequest(new URLSearchParams(), NOW);
    expect(parseQuery(kind, query)).toEqual({
      ...history,
      names: ["a", "b", "a"],
      count,
      countIndex,
    });
  });

  test("reads the name of a saved list in place of names", () => {
    const { names: read, list } = parseQuery("user", "list=My%20rivals");
    expect([read, list]).toEqual([[], "My rivals"]);
  });

  test("reads the parameters of a history", () => {
    const query = "from=2026-01-01&to=2026-02-01&interval=week&limit=7";
    const history = parseHistoryRequest(new URLSearchParams(query), NOW);
    expect(parseQuery("user", `usernames=a&${query}`)).toMatchObject(history);
  });

  test.each([
    ["", "channels must be 1 to 10 names, separated by commas, got none"],
    ["usernames=a", "channels must be 1 to 10 names, separated by commas, got none"],
    ["channels=a&list=b", "The query must have either channels or list, got both"],
    ["list=a&list=b", 'list must be given once, got ["a","b"]'],
    ["list=%20a", /^list must be a name of 1 to 64 characters .*, got " a"$/],
    ["channels=a&channels=b", 'channels must be given once, got ["a","b"]'],
    ["channels=", /^Each name of channels must be text of 1 to 256 characters .*, got ""$/],
    ["channels=a,,b", /^Each name of channels must be text .*, got ""$/],
    ["channels=a%00", /^Each name of channels must be text .* without control characters, got /],
    [`channels=${"a,".repeat(10)}a`, "channels must be 1 to 10 names, got 11 names"],
    [
      "channels=a&count=followers_count",
      'count must be one of subscribers, videoCount, viewCount, got "followers_count"',
    ],
    ["channels=a&count=", 'count must be one of subscribers, videoCount, viewCount, got ""'],
    ["channels=a&count=viewCount&count=viewCount", /^count must be given once/],
    ["channels=a&interval=year", /^interval must be one of/],
    ["channels=a&limit=0", /^limit must be/],
    ["channels=a&from=x", /^from must be/],
    ["channels=a&cursor=X", /^cursor must be/],
  ])("refuses %s with what is allowed", (query, message) => {
    const error = catchDomainError(() => parseQuery("channel", query));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toMatch(message);
  });
});
