import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  ERROR_STATUSES,
  isErrorCode,
  VIDEO_ERROR_SENTENCES,
  createNotFoundError,
  DomainError,
  quoteValue,
} from "../../core/errors.ts";
import { utf16Texts } from "../support/arbitraries/values.ts";

function cutTo80(text: string): string {
  return Array.from(text).slice(0, 80).join("");
}

function throwError(): never {
  throw new Error("no");
}

describe("ERROR_STATUSES", () => {
  test("ERROR_STATUSES has the error names of the specification", () => {
    expect(ERROR_STATUSES).toMatchObject({
      "User Not Found": 404,
      "Tweet Not Found": 404,
      "Creator Already Exists": 409,
      "Creator Not Found": 404,
      "Invalid Pagination Parameters": 400,
      "Page Out of Range": 404,
    });
  });
});

describe("DomainError", () => {
  test("DomainError is an Error with a code and a message", () => {
    const error = new DomainError("User Not Found", "There is no user nasa");
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual([
      "DomainError",
      "User Not Found",
      "There is no user nasa",
    ]);
  });
});

describe("VIDEO_ERROR_SENTENCES", () => {
  const listNames = (message: string) =>
    Object.entries(VIDEO_ERROR_SENTENCES).flatMap(([name, pattern]) =>
      pattern.test(message) ? [name] : [],
    );

  test.each(["a", "nasa", "a b\n", " ", "😀"])("match the messages about %j", (name) => {
    expect(listNames(createNotFoundError("channel", name).message)).toEqual(["Channel Not Found"]);
    expect(listNames(createNotFoundError("short", name, name).message)).toEqual([
      "Short Not Found",
    ]);
  });

  test.each([
    "The Channel a not found",
    "Channel a not found here",
    "Channel  not found",
    "The Short a not found for channel b",
    "Short  not found for channel b",
    "Short a not found for channel ",
  ])("do not match %j", (message) => {
    expect(listNames(message)).toEqual([]);
  });
});

describe("isErrorCode()", () => {
  test("tells the names of errors from other texts", () => {
    expect(Object.keys(ERROR_STATUSES).every(isErrorCode)).toBe(true);
    for (const text of ["", "not found", "toString"]) expect(isErrorCode(text)).toBe(false);
  });
});

describe("the errors of what is not found", () => {
  test.each([
    [createNotFoundError("channel", "nasa"), "Channel Not Found", "Channel nasa not found"],
    [
      createNotFoundError("short", "nasa", "7"),
      "Short Not Found",
      "Short 7 not found for channel nasa",
    ],
    [createNotFoundError("user", "nasa"), "User Not Found", "User nasa not found"],
    [
      createNotFoundError("tweet", "nasa", "7"),
      "Tweet Not Found",
      "Tweet 7 of user nasa not found",
    ],
  ] as const)("%s has its code and names what was asked for", (error, code, message) => {
    expect({ code: error.code, message: error.message }).toEqual({ code, message });
  });
});

describe("quoteValue()", () => {
  const cases: [what: string, value: unknown, written: string][] = [
    ["a text in quotes", "3.0", '"3.0"'],
    ["an empty text as quotes", "", '""'],
    ["a line break and a control character as escapes", "a\n\u0007", String.raw`"a\n\u0007"`],
    [
      "characters that steer a terminal as escapes",
      "\u007f\u009b31m\u202e\u2028",
      String.raw`"\u007f\u009b31m\u202e\u2028"`,
    ],
    ["a lone surrogate as an escape", "\ud83d", String.raw`"\ud83d"`],
    ["undefined, which has no JSON", undefined, "undefined"],
    ["null", null, "null"],
    ["a symbol", Symbol("x"), "Symbol(x)"],
    ["infinity as itself, not as null", Infinity, "Infinity"],
    ["NaN as itself, not as null", NaN, "NaN"],
    ["an array", ["1", "2"], '["1","2"]'],
    ["a BigInt by its type", 1n, "a value of type bigint"],
  ];
  test.each(cases)("writes %s", (_what, value, written) => {
    expect(quoteValue(value)).toBe(written);
  });

  test("shows 80 characters, quotes included, and cuts the next", () => {
    expect(quoteValue("x".repeat(78))).toBe(`"${"x".repeat(78)}"`);
    expect(quoteValue("x".repeat(79))).toBe(`"${"x".repeat(79)}…`);
  });

  test("cuts between characters, never inside an emoji", () => {
    expect(quoteValue("😀".repeat(1000))).toBe(`"${"😀".repeat(79)}…`);
    expect(quoteValue(`x${"😀".repeat(1000)}`)).toBe(`"x${"😀".repeat(78)}…`);
  });

  test("survives a cycle", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(quoteValue(cycle)).toBe("a value of type object");
  });

  test("survives arrays nested deeper than the stack", () => {
    const depth = 100_000;
    const nested: unknown = JSON.parse("[".repeat(depth) + "]".repeat(depth));
    expect(quoteValue(nested)).toBe(`${"[".repeat(80)}…`);
  });

  test("survives objects that cannot be converted", () => {
    expect(quoteValue({ toJSON: throwError })).toBe("a value of type object");
    expect(quoteValue({ toJSON: () => undefined, toString: throwError })).toBe(
      "a value of type object",
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(quoteValue(proxy)).toBe("a value of type object");
  });

  test("shows the beginning of what JSON.stringify() returns", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
        const whole = JSON.stringify(value);
        const shown = quoteValue(value);
        expect(shown).toBe(shown.endsWith("…") ? `${cutTo80(whole)}…` : whole);
      }),
    );
  });

  test("never throws and returns at most 81 characters, for any value", () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true });
    fc.assert(
      fc.property(fc.oneof(anything, utf16Texts, fc.string({ minLength: 70 })), (value) => {
        expect(Array.from(quoteValue(value)).length).toBeLessThanOrEqual(81);
        if (typeof value === "string") expect(quoteValue(value).isWellFormed()).toBe(true);
      }),
    );
  });
});
