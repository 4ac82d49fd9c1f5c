import { describe, expect, test } from "bun:test";
import { DomainError } from "../../core/errors.ts";
import {
  createAccountDetails,
  listDayHours,
  parseUsageDays,
  parseUsageGrouping,
} from "../../core/usage.ts";

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
    expect(parseRange({})).toStrictEqual({ first: TODAY - 29, last: TODAY });
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

describe("parseUsageDays() with a zone", () => {
  test("counts the days there, also today", () => {
    // It is 08:59 of the 21st in Tokyo.
    const range = { first: TODAY - 28, last: TODAY + 1, zone: "Asia/Tokyo" };
    expect(parseRange({ zone: ["asia/tokyo"] })).toEqual(range);
    expect(parseRange({ zone: ["America/New_York"] })).toMatchObject({ last: TODAY });
    expect(parseRange({ zone: ["UTC"] })).toEqual({ ...parseRange({}), zone: "UTC" });
  });

  test("takes a zone whose days begin with hours of UTC in the whole range, and no other", () => {
    const summer = { zone: ["Australia/Lord_Howe"], from: ["2026-10-05"], to: ["2026-11-20"] };
    expect(parseRange(summer)).toMatchObject({ last: TODAY });
    expect(catchError({ ...summer, from: ["2026-10-04"] })).toEqual([
      "Invalid Request",
      "zone must be one whose days begin with an hour of UTC, because usage is stored by these " +
        'hours, got "Australia/Lord_Howe" from 2026-10-04 to 2026-11-20',
    ]);
    for (const zone of ["Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns"]) {
      expect(catchError({ zone: [zone] })).toMatchObject([
        "Invalid Request",
        expect.stringMatching(/^zone must be one whose days begin with an hour of UTC/),
      ]);
    }
  });

  test.each([
    [{ zone: ["Mars"] }, /^zone must be the IANA name of a time zone/],
    [{ zone: ["UTC", "UTC"] }, /^zone must be given once/],
    [{ zone: ["UTC"], from: ["2026-11-31"] }, /^from must be a day that exists in UTC /],
    [
      { zone: ["Pacific/Apia"], from: ["2011-12-30"], to: ["2011-12-31"] },
      /^from must be a day that exists in Pacific\/Apia \(2026-11-20\), got "2011-12-30"$/,
    ],
  ])("rejects %j", (given, message) => {
    expect(catchError(given)).toEqual(["Invalid Request", expect.stringMatching(message)]);
  });
});

describe("listDayHours()", () => {
  const day = Date.parse("2026-10-24") / 86_400_000;

  test("has the hour with which each day begins, and the hour after the last", () => {
    expect(listDayHours({ first: day, last: day })).toEqual([day * 24, day * 24 + 24]);
    const hours = listDayHours({ first: day, last: day + 2, zone: "Europe/Lisbon" });
    expect(hours.map((hour) => hour - day * 24)).toEqual([-1, 23, 48, 72]);
  });

  test("has a fraction where a day begins between two, and one hour for a day that is skipped", () => {
    expect(listDayHours({ first: 0, last: 0, zone: "Africa/Monrovia" })[0]).toBeCloseTo(0.742, 3);
    const skipped = Date.parse("2011-12-30") / 86_400_000;
    const [first, second] = listDayHours({ first: skipped, last: skipped, zone: "Pacific/Apia" });
    expect(first).toBe(second as number);
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
    expect(details).toStrictEqual({
      account: "acme",
      balance: 7,
      usage: [
        { day: "1970-01-01", ...used, credits: 4 },
        { day: "1970-01-02", ...unused },
        { day: "1970-01-03", ...used },
      ],
    });
  });

  test("names the zone, and leaves out a day that its clocks skipped", () => {
    const first = Date.parse("2011-12-29") / 86_400_000;
    const range = { first, last: first + 2, zone: "Pacific/Apia" };
    const details = createAccountDetails(account, range, [{ day: first + 2, ...used }]);
    expect(Object.keys(details)).toEqual(["account", "balance", "zone", "usage"]);
    expect([details.zone, details.usage]).toEqual([
      "Pacific/Apia",
      [
        { day: "2011-12-29", ...unused },
        { day: "2011-12-31", ...used },
      ],
    ]);
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
