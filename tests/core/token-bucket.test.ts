import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { takeRateLimitToken, type TokenBucket } from "../../core/token-bucket.ts";

/** Takes a token at each instant; returns which were admitted. */
function takeTokensAt(instants: readonly number[], perMinute: number): boolean[] {
  let bucket: TokenBucket | undefined;
  return instants.map((now) => {
    const taken = takeRateLimitToken(bucket, perMinute, now);
    ({ bucket } = taken);
    return taken.isAdmitted;
  });
}

describe("takeRateLimitToken()", () => {
  test("admits a minute's requests at once, then no more", () => {
    expect(takeTokensAt([0, 0, 0, 0], 3)).toEqual([true, true, true, false]);
  });

  test("refills evenly: one token a second at 60 a minute", () => {
    const burst = Array.from({ length: 60 }, () => 0);
    expect(takeTokensAt([...burst, 999, 1000, 1001, 2000], 60).slice(60)).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  test("says when the next token is available and when the bucket is full", () => {
    expect(takeRateLimitToken({ tokens: 0, at: 0 }, 60, 250)).toMatchObject({
      isAdmitted: false,
      remaining: 0,
      retryAfterS: 1,
      fullAfterS: 60,
    });
    expect(takeRateLimitToken({ tokens: 0, at: 0 }, 1, 1)).toMatchObject({ retryAfterS: 60 });
    expect(takeRateLimitToken(undefined, 10, 0)).toMatchObject({
      isAdmitted: true,
      remaining: 9,
      retryAfterS: 0,
      fullAfterS: 6,
    });
  });

  test("admits after `retryAfterS`, and not a second before", () => {
    const tokens = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), tokens, (perMinute, held) => {
        const { bucket, retryAfterS } = takeRateLimitToken({ tokens: held, at: 0 }, perMinute, 0);
        expect(takeRateLimitToken(bucket, perMinute, retryAfterS * 1000).isAdmitted).toBe(true);
        const before = (retryAfterS - 1) * 1000 - 1;
        expect(before >= 0 && takeRateLimitToken(bucket, perMinute, before).isAdmitted).toBe(false);
      }),
    );
  });

  test("never admits more than a minute's requests and the refilled tokens", () => {
    const instants = fc.array(fc.integer({ min: 0, max: 180_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(instants, fc.integer({ min: 1, max: 20 }), (unsorted, perMinute) => {
        const sorted = unsorted.toSorted((a, b) => a - b);
        const admitted = takeTokensAt(sorted, perMinute).filter(Boolean).length;
        const span = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
        expect(admitted).toBeLessThanOrEqual(perMinute + (span * perMinute) / 60_000 + 1e-6);
      }),
    );
  });

  test("holds at most a minute's requests", () => {
    const hour = 3_600_000;
    expect(takeTokensAt([0, hour, hour, hour, hour], 3)).toEqual([true, true, true, true, false]);
  });

  test("refills nothing if the clock goes back, and nothing twice when it returns", () => {
    expect(takeTokensAt([60_000, 0, 0, 60_000], 1)).toEqual([true, false, false, false]);
  });

  test("has a token at once after the clock went back, if it held two", () => {
    const { remaining, retryAfterS } = takeRateLimitToken({ tokens: 2, at: 1000 }, 2, 0);
    expect({ remaining, retryAfterS }).toEqual({ remaining: 1, retryAfterS: 0 });
  });

  test("blocks for at most a minute if the clock is set back by a day", () => {
    const DAY_MS = 86_400_000;
    expect(takeTokensAt([DAY_MS, 0, 59_999, 120_000], 1)).toEqual([true, false, false, true]);
  });

  test("says when the next token is available after the clock went back", () => {
    const { bucket } = takeRateLimitToken({ tokens: 0.5, at: 3_600_000 }, 60, 0);
    const { isAdmitted, retryAfterS, fullAfterS } = takeRateLimitToken(bucket, 60, 0);
    expect({ isAdmitted, retryAfterS, fullAfterS }).toEqual({
      isAdmitted: false,
      retryAfterS: 61,
      fullAfterS: 120,
    });
    expect(takeRateLimitToken(bucket, 60, 60_000).isAdmitted).toBe(false);
    expect(takeRateLimitToken(bucket, 60, 61_000).isAdmitted).toBe(true);
  });

  test.each([-1, 0, 0.5, Number.NaN])("rejects %d requests a minute", (perMinute) => {
    const message = `perMinute must be a whole number from 1, got ${perMinute}`;
    expect(() => takeRateLimitToken(undefined, perMinute, 0)).toThrow(new RangeError(message));
  });
});
