import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  compareText,
  FOLDED_IDENTIFIER_MAX_CHARACTERS,
  foldCase,
  hasControlCharacter,
  isLongerThan,
  isStorable,
  sanitizeMessage,
} from "../../core/text.ts";
import { IDENTIFIER_MAX_CHARACTERS } from "../../core/limits.ts";
import { texts, utf16Texts } from "../support/arbitraries/values.ts";
import { toByteText, toWellFormedText } from "../support/utf8.ts";

describe("compareText()", () => {
  test("orders U+FF01 before an emoji, like their UTF-8 bytes", () => {
    expect(["！", "😀"].toSorted()).toEqual(["😀", "！"]); // the order of JavaScript
    expect(compareText("！", "😀")).toBeLessThan(0);
    expect(compareText("😀", "！")).toBeGreaterThan(0);
  });

  test("orders a text before a longer one that begins with it", () => {
    expect(compareText("a", "ab")).toBeLessThan(0);
    expect(compareText("", "a")).toBeLessThan(0);
    expect(compareText("", "")).toBe(0);
  });

  test("orders digits as text, not as numbers, and capitals first", () => {
    expect(["b", "a", "B", "10", "9", "é"].toSorted(compareText)).toEqual([
      "10",
      "9",
      "B",
      "a",
      "b",
      "é",
    ]);
  });

  test("orders any two texts by their UTF-8 bytes", () => {
    const edges = fc.constantFrom("\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}", "\x7f");
    const near = fc.oneof(
      texts,
      fc.array(edges).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(near, near, near, (start, a, b) => {
        const [left, right] = [start + a, start + b];
        const [leftBytes, rightBytes] = [toByteText(left), toByteText(right)];
        const expected = leftBytes === rightBytes ? 0 : leftBytes < rightBytes ? -1 : 1;
        expect(Math.sign(compareText(left, right))).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});

describe("foldCase()", () => {
  test("folds the case of a username, beyond ASCII too", () => {
    expect(foldCase("NaSa_1")).toBe("nasa_1");
    expect(foldCase("ÉCOLE")).toBe(foldCase("école"));
    expect(foldCase("straße")).not.toBe(foldCase("STRASSE")); // toLowerCase, not a full fold
  });

  test("makes a character two at most, as FOLDED_IDENTIFIER_MAX_CHARACTERS has it", () => {
    const points = Array.from({ length: 0x11_0000 }, (_, point) => point);
    const longest = points.map((point) => Array.from(foldCase(String.fromCodePoint(point))).length);
    expect(longest.reduce((a, b) => Math.max(a, b))).toBe(2);
    expect(FOLDED_IDENTIFIER_MAX_CHARACTERS).toBe(2 * IDENTIFIER_MAX_CHARACTERS);
  });

  test("is idempotent", () => {
    fc.assert(fc.property(texts, (text) => foldCase(foldCase(text)) === foldCase(text)));
  });
});

describe("isLongerThan()", () => {
  test("counts characters, not UTF-16 units", () => {
    expect(isLongerThan("😀".repeat(256), 256)).toBe(false);
    expect(isLongerThan(`${"😀".repeat(256)}a`, 256)).toBe(true);
    expect(isLongerThan("a".repeat(256), 256)).toBe(false);
    expect(isLongerThan("a".repeat(257), 256)).toBe(true);
    expect(isLongerThan("", 0)).toBe(false);
  });

  test("agrees with counting all code points", () => {
    fc.assert(
      fc.property(fc.oneof(texts, utf16Texts), fc.nat(12), (text, max) => {
        expect(isLongerThan(text, max)).toBe(Array.from(text).length > max);
      }),
    );
  });
});

describe("isStorable()", () => {
  test("rejects a NUL and a lone surrogate at any place", () => {
    for (const bad of ["\0", "a\0b", "\ud83d", "\ude00", "\ude00\ud83d", "a\ud83d", "\ud83d😀"]) {
      expect(isStorable(bad)).toBe(false);
    }
    for (const good of ["", "a\u0001\n", "😀", "\uffff", "\ufffd"]) {
      expect(isStorable(good)).toBe(true);
    }
  });

  test("accepts exactly the texts that UTF-8, cut at a NUL, returns unchanged", () => {
    fc.assert(
      fc.property(fc.oneof(texts, utf16Texts), (text) => {
        const [stored = ""] = toWellFormedText(text).split("\0");
        expect(isStorable(text)).toBe(stored === text);
      }),
    );
  });
});

describe("hasControlCharacter()", () => {
  test("finds all 65 control characters of Unicode and no other", () => {
    const found: number[] = [];
    for (let point = 0; point <= 0xffff; point++) {
      if (hasControlCharacter(`a${String.fromCodePoint(point)}b`)) found.push(point);
    }
    const expected = Array.from({ length: 65 }, (_, index) => (index < 32 ? index : index + 95));
    expect(found).toEqual(expected);
  });
});

describe("sanitizeMessage()", () => {
  test("cuts by characters, not by UTF-16 units, and marks the cut", () => {
    expect(sanitizeMessage("😀".repeat(300), 300)).toBe("😀".repeat(300));
    expect(sanitizeMessage("😀".repeat(301), 300)).toBe(`${"😀".repeat(300)}…`);
    expect(sanitizeMessage(`a${"😀".repeat(300)}`, 300)).toBe(`a${"😀".repeat(299)}…`);
    expect(sanitizeMessage("abc", 3)).toBe("abc");
    expect(sanitizeMessage("abcd", 3)).toBe("abc…");
    expect(sanitizeMessage("", 3)).toBe("");
  });

  test("replaces a run of control characters by one space", () => {
    expect(sanitizeMessage("It broke\r\n\toff", 300)).toBe("It broke off");
    expect(sanitizeMessage("a\0b\u001b[31mc\u007f\u0085d", 300)).toBe("a b [31mc d");
  });

  test("replaces each lone surrogate by U+FFFD", () => {
    expect(sanitizeMessage("a\ud83d", 300)).toBe("a\ufffd");
    expect(sanitizeMessage("\ude00\ud83d😀", 300)).toBe("\ufffd\ufffd😀");
  });

  test("returns a storable, short text of one line for any text", () => {
    const any = fc.oneof(texts, utf16Texts);
    fc.assert(
      fc.property(any, fc.nat(12), (text, max) => {
        const sentence = sanitizeMessage(text, max);
        expect(isStorable(sentence)).toBe(true);
        expect(hasControlCharacter(sentence)).toBe(false);
        expect(isLongerThan(sentence, max + 1)).toBe(false);
        expect(sentence.endsWith("…") || !isLongerThan(text, max)).toBe(true);
      }),
    );
  });

  test("returns a short text of one line unchanged", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        fc.pre(!hasControlCharacter(text));
        expect(sanitizeMessage(text, 40)).toBe(text);
      }),
    );
  });
});
