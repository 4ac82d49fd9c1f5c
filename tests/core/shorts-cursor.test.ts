/** The text of cursors of shorts, which other cursors with an identifier share. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { decodeShortsCursor, encodeShortsCursor, type ShortPosition } from "../../core/cursor.ts";
import { quoteValue } from "../../core/errors.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../core/time.ts";
import {
  identifiers,
  instants,
  positions,
  texts,
  utf16Texts,
} from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

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
    const anyIds = fc.oneof(identifiers, fc.constant("\ufeffbyte order mark"));
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
          [LAST_INSTANT, "😀".repeat(512)],
        ],
      },
    );
  });

  test.each([NaN, 0.5, -5e-324, FIRST_INSTANT - 1, LAST_INSTANT + 1])(
    "refuses the instant %d, which decodeShortsCursor() refuses, too",
    (publishedAt) => {
      expect(() => encodeShortsCursor({ publishedAt, id: "a" })).toThrow(
        new RangeError(
          `A cursor needs whole milliseconds in the years 0 to 9999, got ${publishedAt}`,
        ),
      );
    },
  );

  test.each(["", "a\0", "\u0085", "\ud800", "😀".repeat(513)])(
    "refuses %j, which decodeShortsCursor() refuses",
    (id) => {
      expect(() => encodeShortsCursor({ publishedAt: 0, id })).toThrow(
        new RangeError(`A cursor needs an identifier, got ${quoteValue(id)}`),
      );
    },
  );

  test("encodes any text that decodeShortsCursor() decodes, and no other", () => {
    // No -0, which is another number than the decoded 0.
    const numbers = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()).map((at) => at + 0);
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
