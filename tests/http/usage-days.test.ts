import { describe, expect, test } from "bun:test";
import { DomainError } from "../../core/errors.ts";
import { parseDayRange } from "../../server/http/account.ts";

const NOW = Date.parse("2026-11-20T23:59:59.999Z");
const TODAY = Date.parse("2026-11-20") / 86_400_000;

const parseRange = (values: Readonly<Record<string, readonly string[]>>) =>
  parseDayRange((name) => values[name] ?? [], NOW);

function catchError(values: Readonly<Record<string, readonly string[]>>): unknown {
  try {
    return parseRange(values);
  } catch (error) {
    if (error instanceof DomainError) return [error.code, error.message];
    throw error;
  }
}

describe("parseDayRange()", () => {
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
