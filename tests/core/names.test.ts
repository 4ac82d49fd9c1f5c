/** Names in requests: of saved lists, and those that a saved list has. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeListCursor, parseListRequest } from "../../core/lists.ts";
import { parseListName, setListNames } from "../../core/names.ts";
import { utf16Texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

const RULE =
  "list must be a name of 1 to 64 characters without control characters, without spaces at its " +
  "ends, and not . or .., got ";

describe("parseListName()", () => {
  test.each(["a", "My rivals", "__proto__", "constructor", "7", "a/b?c#d&e=f", "...", "é", "İ"])(
    "takes %j",
    (name) => {
      expect(parseListName(name)).toBe(name);
    },
  );

  test("counts characters, not UTF-16 units", () => {
    expect(parseListName("😀".repeat(64))).toBe("😀".repeat(64));
    expect(catchDomainError(() => parseListName("😀".repeat(65)))?.code).toBe("Invalid Request");
  });

  test.each([
    ["", '""'],
    [".", '"."'],
    ["..", '".."'],
    [" a", '" a"'],
    ["a\u3000", '"a\u3000"'],
    ["a\u0000", String.raw`"a\u0000"`],
    ["a\nb", String.raw`"a\nb"`],
    ["\ud800", String.raw`"\ud800"`],
    ["x".repeat(10_000), `"${"x".repeat(79)}…`],
    [null, "null"],
    [7, "7"],
    [["a"], '["a"]'],
    [undefined, "undefined"],
  ])("refuses %j with what is allowed", (name, got) => {
    const error = catchDomainError(() => parseListName(name));
    expect([error?.code, error?.message]).toEqual(["Invalid Request", RULE + got]);
  });

  test("takes only names that a URL can have as a segment", () => {
    fc.assert(
      fc.property(utf16Texts, (name) => {
        if (catchDomainError(() => parseListName(name)) !== undefined) return;
        const { pathname } = new URL(`http://localhost/api/lists/${encodeURIComponent(name)}`);
        expect(decodeURIComponent(pathname.slice("/api/lists/".length))).toBe(name);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("setListNames()", () => {
  const names: readonly string[] = [];
  const request = { names, list: "Rivals", limit: 7 };

  test("sets the names, and keeps the rest", () => {
    expect(setListNames(request, ["a", "b"], 2)).toEqual({ ...request, names: ["a", "b"] });
    expect(setListNames(request, [])).toEqual(request);
  });

  test.each<[string[], string]>([
    [[], "The list Rivals must be 1 to 2 names, got 0 names"],
    [["a", "b", "c"], "The list Rivals must be 1 to 2 names, got 3 names"],
  ])("refuses %j if 1 to 2 names are needed", (listed, message) => {
    const error = catchDomainError(() => setListNames(request, listed, 2));
    expect([error?.code, error?.message]).toEqual(["Invalid Request", message]);
  });
});

describe.each(["channel", "user"] as const)("parseListRequest() of a %s", (kind) => {
  const parse = (query: string) => parseListRequest(kind, new URLSearchParams(query));

  test("has the name of a saved list as it was sent", () => {
    expect(parse("list=My%20Rivals").list).toBe("My Rivals");
    expect(parse("limit=1").list).toBeUndefined();
    expect(catchDomainError(() => parse("list="))?.message).toBe(`${RULE}""`);
    expect(catchDomainError(() => parse("list=a&list=b"))?.message).toBe(
      'list must be given once, got ["a","b"]',
    );
  });

  test("refuses the cursor of another saved list, and takes it in any case", () => {
    const request = parse("list=Rivals&limit=1");
    const cursor = encodeListCursor({ figure: 1, id: "a" }, request);
    expect(parse(`list=RIVALS&cursor=${cursor}`).after).toEqual({ figure: 1, id: "a" });
    for (const query of ["", "list=others&", "search=rivals&"]) {
      const error = catchDomainError(() => parse(`${query}cursor=${cursor}`));
      expect(error?.message).toStartWith("cursor must be the nextCursor of a page with the same");
    }
  });
});
