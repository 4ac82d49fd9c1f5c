import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseWhole, readOnce, readWhole } from "../../core/parameters.ts";
import { counts, texts } from "../support/arbitraries.ts";
import { refusalOf } from "../support/refusal.ts";

const RANGE = { min: 1, max: 100, default: 20 };

const NOT_WHOLE = [
  "",
  " ",
  " 3",
  "3 ",
  "3\n",
  "+3",
  "-3",
  "-0",
  "03",
  "00",
  "3.0",
  "1e1",
  "0x5",
  "1_0",
  "1,000",
  "３", // a full-width digit
  "٣", // an Arabic digit
  "NaN",
  "Infinity",
  "9007199254740992",
  "9".repeat(400),
];

describe("parseWhole", () => {
  test.each(NOT_WHOLE)("parseWhole() takes %j for no whole number", (text) => {
    expect(parseWhole(text)).toBeUndefined();
  });

  test("parseWhole() reads 0 and 2^53 - 1, the two ends", () => {
    expect(parseWhole("0")).toBe(0);
    expect(parseWhole("9007199254740991")).toBe(2 ** 53 - 1);
  });

  test("parseWhole() reads back every count as it is written", () => {
    fc.assert(fc.property(counts, (count) => expect(parseWhole(String(count))).toBe(count)));
  });

  test("parseWhole() reads a text only where writing the number gives that text again", () => {
    const numeric = fc.string({ unit: fc.constantFrom(..."0123456789-+.eEx ") });
    fc.assert(
      fc.property(fc.oneof(texts, numeric), (text) => {
        const number = parseWhole(text);
        if (number !== undefined) expect(String(number)).toBe(text);
      }),
    );
  });
});

describe("readWhole", () => {
  test("readWhole() gives the default for a parameter that was left out", () => {
    expect(readWhole("limit", [], RANGE)).toBe(20);
  });

  test("readWhole() includes both ends of its range", () => {
    expect(readWhole("limit", ["1"], RANGE)).toBe(1);
    expect(readWhole("limit", ["100"], RANGE)).toBe(100);
  });

  test.each([...NOT_WHOLE, "0", "101"])(
    "readWhole() refuses %j, saying what is allowed",
    (text) => {
      const refusal = refusalOf(() => readWhole("limit", [text], RANGE));
      expect(refusal?.code).toBe("Invalid Request");
      expect(refusal?.message).toStartWith("limit must be a whole number from 1 to 100, got ");
    },
  );

  test("readWhole() names the value and throws the error of the interface", () => {
    const code = "Invalid Pagination Parameters";
    expect(refusalOf(() => readWhole("days", ["3.0"], RANGE, code))).toEqual({
      code,
      message: 'days must be a whole number from 1 to 100, got "3.0"',
    });
  });

  test("readWhole() refuses a repeated parameter even when the values agree", () => {
    const code = "Invalid Pagination Parameters";
    expect(refusalOf(() => readWhole("page", ["1", "1"], RANGE, code))).toEqual({
      code,
      message: 'page must be given once, got ["1","1"]',
    });
  });
});

describe("readOnce", () => {
  test("readOnce() tells a parameter that is empty from one that was left out", () => {
    expect(readOnce("before", [""])).toBe("");
    expect(readOnce("before", [])).toBeUndefined();
  });

  test("readOnce() refuses a repeated parameter with a message of bounded length", () => {
    const values = Array.from({ length: 1000 }, () => "x".repeat(1000));
    const refusal = refusalOf(() => readOnce("before", values));
    expect(refusal?.code).toBe("Invalid Request");
    expect(refusal?.message).toStartWith('before must be given once, got ["xxx');
    expect(refusal?.message.length).toBeLessThan(150);
  });
});
