import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  parseChoiceParameter,
  parseInteger,
  readSingleValue,
  parseIntegerParameter,
} from "../../core/parameters.ts";
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

describe("parseInteger()", () => {
  test.each(NOT_WHOLE)("rejects %j", (text) => {
    expect(parseInteger(text)).toBeUndefined();
  });

  test("reads 0 and 2^53 - 1", () => {
    expect(parseInteger("0")).toBe(0);
    expect(parseInteger("9007199254740991")).toBe(2 ** 53 - 1);
  });

  test("reads every written count", () => {
    fc.assert(fc.property(counts, (count) => parseInteger(String(count)) === count));
  });

  test("accepts only the canonical text of a number", () => {
    const numeric = fc.string({ unit: fc.constantFrom(..."0123456789-+.eEx ") });
    fc.assert(
      fc.property(fc.oneof(texts, numeric), (text) => {
        const number = parseInteger(text);
        if (number !== undefined) expect(String(number)).toBe(text);
      }),
    );
  });
});

/** A query with these values of one parameter. */
const queryOf = (name: string, ...values: readonly string[]) =>
  new URLSearchParams(values.map((value): [string, string] => [name, value]));

describe("parseIntegerParameter()", () => {
  test("returns the default for an absent parameter", () => {
    expect(parseIntegerParameter("limit", queryOf("limit"), RANGE)).toBe(20);
  });

  test("accepts both ends of its range", () => {
    expect(parseIntegerParameter("limit", queryOf("limit", "1"), RANGE)).toBe(1);
    expect(parseIntegerParameter("limit", queryOf("limit", "100"), RANGE)).toBe(100);
  });

  test.each([...NOT_WHOLE, "0", "101"])("rejects %j, saying what is allowed", (text) => {
    const refusal = catchDomainError(() =>
      parseIntegerParameter("limit", queryOf("limit", text), RANGE),
    );
    expect(refusal?.code).toBe("Invalid Request");
    expect(refusal?.message).toStartWith("limit must be a whole number from 1 to 100, got ");
  });

  test("throws the given code with the value", () => {
    const code = "Invalid Pagination Parameters";
    expect(
      catchDomainError(() => parseIntegerParameter("days", queryOf("days", "3.0"), RANGE, code)),
    ).toEqual({
      code,
      message: 'days must be a whole number from 1 to 100, got "3.0"',
    });
  });

  test("rejects a repeated parameter even if the values are equal", () => {
    const code = "Invalid Pagination Parameters";
    expect(
      catchDomainError(() => parseIntegerParameter("page", queryOf("page", "1", "1"), RANGE, code)),
    ).toEqual({
      code,
      message: 'page must be given once, got ["1","1"]',
    });
  });
});

describe("readSingleValue()", () => {
  test("distinguishes an empty parameter from an absent one", () => {
    expect(readSingleValue("before", queryOf("before", ""))).toBe("");
    expect(readSingleValue("before", queryOf("before"))).toBeUndefined();
  });

  test("rejects a repeated parameter with a short message", () => {
    const values = Array.from({ length: 1000 }, () => "x".repeat(1000));
    const refusal = catchDomainError(() => readSingleValue("before", queryOf("before", ...values)));
    expect(refusal?.code).toBe("Invalid Request");
    expect(refusal?.message).toStartWith('before must be given once, got ["xxx');
    expect(refusal?.message.length).toBeLessThan(150);
  });
});

describe("parseChoiceParameter()", () => {
  const parse = (...values: string[]) =>
    parseChoiceParameter("format", queryOf("format", ...values), ["json", "csv"], "json");

  test("returns the name, or the default without one", () => {
    expect([parse(), parse("csv"), parse("json")]).toEqual(["json", "csv", "json"]);
  });

  test.each([[["xml"]], [["CSV"]], [[""]], [["csv", "csv"]], [["__proto__"]]])(
    "rejects %j",
    (values) => {
      expect(catchDomainError(() => parse(...values))?.code).toBe("Invalid Request");
    },
  );
});
