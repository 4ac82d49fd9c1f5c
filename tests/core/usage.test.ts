import { describe, expect, test } from "bun:test";
import { DomainError } from "../../core/errors.ts";
import { createAccountDetails, parseUsageDays, parseUsageGrouping } from "../../core/usage.ts";

const NOW = Date.parse("2026-11-20T23:59:59.999Z");
const TODAY = Date.parse("2026-11-20") / 86_400_000;

const createQuery = (values: Readonly<Record<string, readonly string[]>>) =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, texts]) =>
      texts.map((text): [string, string] => [name, text]),
    ),
  );

const parseRange = (values: Readonly<Record<string, readonly string[]>>) =>
  parseUsageDays(createQuery(values), NOW);

function catchError(values: Readonly<Record<string, readonly string[]>>): unknown {
  try {
    return parseRange(values);
  } catch (error) {
    if (error instanceof DomainError) return [error.code, error.message];
    throw error;
  }
}

describe("parseUsageDays()", () => {
  test("defaults to the 30 days up to today", () => {
    expect(parseRange({})).toEqual({ first: TODAY - 29, last: TODAY });
  });

  test("includes both ends, and defaults from to 30 days before to", () => {
    expect(parseRange({ from: ["2026-11-20"], to: ["2026-11-20"] })).toEqual({
      first: TODAY,
      last: TODAY,
    });
    expect(parseRange({ to: ["2026-11-10"] })).toEqual({ first: TODAY - 39, last: TODAY - 10 });
    const day = Date.parse("0000-01-01") / 86_400_000;
    expect(parseRange({ to: ["0000-01-30"] })).toEqual({ first: day, last: day + 29 });
    expect(parseRange({ from: ["2025-11-20"] })).toEqual({ first: TODAY - 365, last: TODAY });
  });

  test.each([
    [{ from: ["2026-11-31"] }, 'from must be a day that exists (2026-11-20), got "2026-11-31"'],
    [
      { to: ["2026-11-20T00:00"] },
      'to must be a day that exists (2026-11-20), got "2026-11-20T00:00"',
    ],
    [{ to: [""] }, 'to must be a day that exists (2026-11-20), got ""'],
    [
      { to: ["2026-11-20", "2026-11-20"] },
      'to must be given once, got ["2026-11-20","2026-11-20"]',
    ],
    [
      { to: ["0000-01-29"] },
      "to must be 0000-01-30 or later where from is left out, got 0000-01-29",
    ],
    [
      { from: ["2026-11-21"] },
      "from must be at or before to, and at most 366 days, both included, " +
        "got 2026-11-21 to 2026-11-20",
    ],
    [
      { from: ["2025-11-19"] },
      "from must be at or before to, and at most 366 days, both included, " +
        "got 2025-11-19 to 2026-11-20",
    ],
  ])("rejects %j", (given, message) => {
    expect(catchError(given)).toEqual(["Invalid Request", message]);
  });
});

describe("parseUsageGrouping()", () => {
  test.each([
    ["key", { hasKey: true, hasEndpoint: false, period: undefined }],
    ["endpoint,day", { hasKey: false, hasEndpoint: true, period: "day" }],
    ["hour,key,endpoint", { hasKey: true, hasEndpoint: true, period: "hour" }],
  ] as const)("takes %s", (by, grouping) => {
    expect(parseUsageGrouping(createQuery({ by: [by] }))).toEqual(grouping);
  });

  test("is undefined without the parameter", () => {
    expect(parseUsageGrouping(createQuery({}))).toBeUndefined();
    expect(parseUsageGrouping(createQuery({ key: ["key"] }))).toBeUndefined();
  });

  test.each(["", "week", "key,key", "day,hour", "key,", "Key"])("rejects %j", (by) => {
    expect(() => parseUsageGrouping(createQuery({ by: [by] }))).toThrow(
      "by must be one or more of key, endpoint and either day or hour, separated by commas, " +
        `got ${JSON.stringify(by)}`,
    );
  });

  test("rejects two values", () => {
    expect(() => parseUsageGrouping(createQuery({ by: ["key", "day"] }))).toThrow(
      "by must be given once",
    );
  });
});

describe("createAccountDetails()", () => {
  const used = { requests: 3, credits: 5, refunded: 1 };
  const unused = { requests: 0, credits: 0, refunded: 0 };
  const account = { name: "acme", balance: 7 };

  test("has every day of the range, in order, with what was used", () => {
    const details = createAccountDetails(account, { first: 0, last: 2 }, [
      { day: 2, ...used },
      { day: 0, ...used, credits: 4 },
    ]);
    expect(details).toEqual({
      account: "acme",
      balance: 7,
      usage: [
        { day: "1970-01-01", ...used, credits: 4 },
        { day: "1970-01-02", ...unused },
        { day: "1970-01-03", ...used },
      ],
    });
  });

  test("leaves out days that are not in the range", () => {
    const { usage } = createAccountDetails(account, { first: -1, last: 0 }, [
      { day: -2, ...used },
      { day: 1, ...used },
    ]);
    expect(usage).toEqual([
      { day: "1969-12-31", ...unused },
      { day: "1970-01-01", ...unused },
    ]);
  });

  test.each([
    [Number.NaN, 1, "first must be a whole number from -719528, got NaN"],
    [1, Number.NaN, "last must be a whole number from 1, got NaN"],
    [2, 1, "last must be a whole number from 2, got 1"],
    [1, Infinity, "last must be a whole number from 1, got Infinity"],
  ])("rejects the range from %d to %d", (first, last, message) => {
    expect(() => createAccountDetails(account, { first, last }, [])).toThrow(
      new RangeError(message),
    );
  });
});
