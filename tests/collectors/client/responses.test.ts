import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { readStatusError, parseWindowReset } from "../../../server/collectors/client/responses.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

const classify = (status: number, headers: Record<string, string> = {}) =>
  readStatusError("x", { status, headers: new Headers(headers), body: undefined }, NOW);

describe("readStatusError()", () => {
  test.each([
    ["120", NOW + 120_000],
    ["Fri, 20 Nov 2026 13:00:00 GMT", NOW + 3_600_000],
    ["999999999", NOW + DAY_MS],
    ["Fri, 20 Nov 2099 13:00:00 GMT", NOW + DAY_MS],
  ])("pauses as Retry-After: %s says, for a day at most", (text, until) => {
    for (const status of [429, 503]) {
      expect(classify(status, { "retry-after": text })).toMatchObject({
        kind: "rate-limited",
        until,
      });
    }
  });

  test.each(["", "0", "-5", "1.5", "soon", "Fri, 20 Nov 2026 11:00:00 GMT", "2099-01-01"])(
    "ignores Retry-After: %j",
    (text) => expect(classify(503, { "retry-after": text })).toMatchObject({ kind: "transient" }),
  );

  test.each([
    [400, "rejected"],
    [404, "rejected"],
    [408, "transient"],
    [429, "transient"],
    [500, "transient"],
  ])("classifies status %d as %s", (status, kind) =>
    expect(classify(status)).toMatchObject({ kind }),
  );

  test("has no error for status 200", () => expect(classify(200)).toBeUndefined());
});

describe("parseWindowReset()", () => {
  const endOf = (left: string, reset: string) =>
    parseWindowReset(
      new Headers({ "limit-remaining": left, "limit-reset": reset }),
      { headerPrefix: "limit", durationMs: 60_000 },
      NOW,
    );

  test("returns the end in the header, a day ahead at most, else the length of the window", () => {
    expect(endOf("1", String(NOW / 1000 + 30))).toBeUndefined();
    expect(endOf("0", String(NOW / 1000 + 30))).toBe(NOW + 30_000);
    expect(endOf("0", String(NOW))).toBe(NOW + DAY_MS);
    expect(endOf("0", String(NOW / 1000))).toBe(NOW + 60_000);
    expect(endOf("0", "soon")).toBe(NOW + 60_000);
  });
});
