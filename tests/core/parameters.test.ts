import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { parseInteger, readSingleValue, parseIntegerParameter } from "../../core/parameters.ts";
import { counts, texts } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

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
  test.each(NOT_WHOLE)("parseInteger() takes %j for no whole number", (text) => {
    expect(parseInteger(text)).toBeUndefined();
  });

  test("parseInteger() reads 0 and 2^53 - 1, the two ends", () => {
    expect(parseInteger("0")).toBe(0);
    expect(parseInteger("9007199254740991")).toBe(2 ** 53 - 1);
  });

  test("parseInteger() reads back every count as it is written", () => {
    fc.assert(fc.property(counts, (count) => expect(parseInteger(String(count))).toBe(count)));
  });

  test("parseInteger() reads a text only where writing the number gives that text again", () => {
    const numeric = fc.string({ unit: fc.constantFrom(..."0123456789-+.eEx ") });
    fc.assert(
      fc.property(fc.oneof(texts, numeric), (text) => {
        const number = parseInteger(text);
        if (number !== undefined) expect(String(number)).toBe(text);
      }),
    );
  });
});

describe("readWhole", () => {
  test("parseIntegerParameter() gives the default for a parameter that was left out", () => {
    expect(parseIntegerParameter("limit", [], RANGE)).toBe(20);
  });

  test("parseIntegerParameter() includes both ends of its range", () => {
    expect(parseIntegerParameter("limit", ["1"], RANGE)).toBe(1);
    expect(parseIntegerParameter("limit", ["100"], RANGE)).toBe(100);
  });

  test.each([...NOT_WHOLE, "0", "101"])(
    "parseIntegerParameter() refuses %j, saying what is allowed",
    (text) => {
      const refusal = catchDomainError(() => parseIntegerParameter("limit", [text], RANGE));
      expect(refusal?.code).toBe("Invalid Request");
      expect(refusal?.message).toStartWith("limit must be a whole number from 1 to 100, got ");
    },
  );

  test("parseIntegerParameter() names the value and throws the error of the interface", () => {
    const code = "Invalid Pagination Parameters";
    expect(catchDomainError(() => parseIntegerParameter("days", ["3.0"], RANGE, code))).toEqual({
      code,
      message: 'days must be a whole number from 1 to 100, got "3.0"',
    });
  });

  test("parseIntegerParameter() refuses a repeated parameter even when the values agree", () => {
    const code = "Invalid Pagination Parameters";
    expect(catchDomainError(() => parseIntegerParameter("page", ["1", "1"], RANGE, code))).toEqual({
      code,
      message: 'page must be given once, got ["1","1"]',
    });
  });
});

describe("readOnce", () => {
  test("readSingleValue() tells a parameter that is empty from one that was left out", () => {
    expect(readSingleValue("before", [""])).toBe("");
    expect(readSingleValue("before", [])).toBeUndefined();
  });

  test("readSingleValue() refuses a repeated parameter with a message of bounded length", () => {
    const values = Array.from({ length: 1000 }, () => "x".repeat(1000));
    const refusal = catchDomainError(() => readSingleValue("before", values));
    expect(refusal?.code).toBe("Invalid Request");
    expect(refusal?.message).toStartWith('before must be given once, got ["xxx');
    expect(refusal?.message.length).toBeLessThan(150);
  });
});
