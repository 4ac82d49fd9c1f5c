/** The text of cursors of shorts, which other cursors with an identifier share. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCursor } from "../../core/cursor.ts";
import { quoteValue } from "../../core/errors.ts";
import { pageAfter, parseShortsRequest, type ShortPosition } from "../../core/shorts.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";
import { identifiers, positions, texts, utf16Texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

/** The cursor of a page that ends with a short. */
const encodeShortsCursor = (short: ShortPosition): string =>
  pageAfter([short, short], { limit: 1 }).nextCursor ?? "";

const decodeShortsCursor = (cursor: string): ShortPosition | undefined =>
  parseShortsRequest(new URLSearchParams({ cursor })).after;

describe("the cursors of pageAfter()", () => {
  test("are what parseShortsRequest() decodes, for any position", () => {
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

  test("are a JSON array in base64url", () => {
    fc.assert(
      fc.property(positions, ({ publishedAt, id }) => {
        const base64 = encodeShortsCursor({ publishedAt, id })
          .replaceAll("-", "+")
          .replaceAll("_", "/");
        const bytes = Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
        const json = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
        expect(json).toBe(JSON.stringify(["shorts", publishedAt, id]));
      }),
      { numRuns: 300, examples: [[{ publishedAt: LAST_INSTANT, id: "😀".repeat(512) }]] },
    );
  });

  test.each([NaN, 0.5, -5e-324, FIRST_INSTANT - 1, LAST_INSTANT + 1])(
    "refuse the instant %d, which parseShortsRequest() refuses, too",
    (publishedAt) => {
      expect(() => encodeShortsCursor({ publishedAt, id: "a" })).toThrow(
        new RangeError(
          `A cursor needs whole milliseconds in the years 0 to 9999, got ${publishedAt}`,
        ),
      );
    },
  );

  test.each(["", "a\0", "\u0085", "\ud800", "😀".repeat(513)])(
    "refuse %j, which parseShortsRequest() refuses",
    (id) => {
      expect(() => encodeShortsCursor({ publishedAt: 0, id })).toThrow(
        new RangeError(`A cursor needs an identifier, got ${quoteValue(id)}`),
      );
    },
  );

  test("have any text that parseShortsRequest() decodes, and no other", () => {
    // No -0, which is another number than the decoded 0. No page has a short at Infinity.
    const doubles = fc.double({ noDefaultInfinity: true });
    const numbers = fc.oneof(fc.integer(), doubles, fc.maxSafeInteger()).map((at) => at + 0);
    fc.assert(
      fc.property(numbers, fc.oneof(texts, utf16Texts), (publishedAt, id) => {
        let cursor: string | undefined;
        try {
          cursor = encodeShortsCursor({ publishedAt, id });
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
        if (cursor !== undefined) expect(decodeShortsCursor(cursor)).toEqual({ publishedAt, id });
      }),
    );
  });

  test("need no escaping in a URL", () => {
    fc.assert(
      fc.property(identifiers, (id) => {
        const cursor = encodeShortsCursor({ publishedAt: 0, id });
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(new URLSearchParams({ cursor }).toString()).toBe(`cursor=${cursor}`);
      }),
    );
  });
});

describe("parseShortsRequest() with a cursor", () => {
  test.each([
    ["an empty text", ""],
    ["text that is not base64", "a.b"],
    ["base64 that is not JSON", "abcd"],
    ["JSON that is no array", btoa('"a"')],
    ["bytes that are not UTF-8", btoa('["shorts",0,"\u00ff"]')],
    ["the cursor of another list", encodeCursor(["channel", 0, "a"])],
    ["a position without its list", encodeCursor([0, "a"])],
    ["a value too many", encodeCursor(["shorts", 0, 0, "a"])],
    ["no identifier", encodeCursor(["shorts", 0])],
    ["an empty identifier", encodeCursor(["shorts", 0, ""])],
    ["no instant", encodeCursor(["shorts", null, "a"])],
    ["an instant that is text", encodeCursor(["shorts", "0", "a"])],
    ["an identifier that is a number", encodeCursor(["shorts", 0, 1])],
    ["spaces in the JSON", btoa('["shorts",0, "a"]')],
    ["an escaped letter", btoa('["shorts",0,"\\u0061"]')],
    ["a number written another way", btoa('["shorts",0e0,"a"]')],
    ["padding", btoa('["shorts",0,"ab"]')],
    ["a line end", `${encodeCursor(["shorts", 0, "a"])}\n`],
    ["half a surrogate pair", btoa('["shorts",0,"\\ud83d"]')],
    ["a NUL", encodeCursor(["shorts", 0, "\0"])],
    ["a control character", encodeCursor(["shorts", 0, "\u007f"])],
    ["an identifier of 513 characters", encodeCursor(["shorts", 0, "a".repeat(513)])],
    ["an instant past the year 9999", encodeCursor(["shorts", LAST_INSTANT + 1, "a"])],
    ["an instant past 2^53", encodeCursor(["shorts", 2 ** 53, "a"])],
    ["a very long text", "0-61".repeat(100_000)],
  ])("rejects %s", (_what, cursor) => {
    const error = catchDomainError(() => decodeShortsCursor(cursor));
    expect(error?.code).toBe("Invalid Request");
    expect(error?.message).toStartWith("cursor must be the nextCursor of a page of shorts, got ");
    expect(error?.message.length).toBeLessThan(200);
  });

  test("accepts only the cursors of pageAfter()", () => {
    const near = positions
      .map(encodeShortsCursor)
      .chain((cursor) =>
        fc
          .nat(cursor.length)
          .map((index) => `${cursor.slice(0, index)}0${cursor.slice(index + 1)}`),
      );
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
