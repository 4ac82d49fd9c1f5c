import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { MINUTE_MS } from "../../core/time.ts";
import { takeRateLimitToken, type TokenBucket } from "../../core/token-bucket.ts";
import { createModelRateLimit } from "../model/rate-limit.ts";

/** A bucket that holds so many tokens. */
const holding = (tokens: number, perMinute: number, at: number): TokenBucket => ({
  takenMs: (perMinute - tokens) * MINUTE_MS,
  at,
});

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
    expect(takeRateLimitToken(holding(0, 60, 0), 60, 250)).toMatchObject({
      isAdmitted: false,
      remaining: 0,
      retryAfterS: 1,
      fullAfterS: 60,
    });
    expect(takeRateLimitToken(holding(0, 1, 0), 1, 1)).toMatchObject({ retryAfterS: 60 });
    expect(takeRateLimitToken(undefined, 10, 0)).toMatchObject({
      isAdmitted: true,
      remaining: 9,
      retryAfterS: 0,
      fullAfterS: 6,
    });
  });

  test("admits after `retryAfterS`, and not a second before", () => {
    const refilledMs = fc.nat(MINUTE_MS - 1);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), refilledMs, (perMinute, held) => {
        const used = { takenMs: perMinute * MINUTE_MS - held, at: 0 };
        const { bucket, retryAfterS } = takeRateLimitToken(used, perMinute, 0);
        expect(takeRateLimitToken(bucket, perMinute, retryAfterS * 1000).isAdmitted).toBe(true);
        const before = (retryAfterS - 1) * 1000 - 1;
        expect(before >= 0 && takeRateLimitToken(bucket, perMinute, before).isAdmitted).toBe(false);
      }),
    );
  });

  test("equals exact arithmetic, at any times, also where the clock goes back", () => {
    const patterns = fc.integer({ min: 1, max: 1000 }).chain((perMinute) => {
      const tokenMs = MINUTE_MS / perMinute;
      const gapMs = fc.oneof(
        fc.nat(3),
        fc.constantFrom(Math.floor(tokenMs), Math.ceil(tokenMs)),
        fc.nat(Math.ceil(3 * tokenMs)),
        fc.integer({ min: -2 * MINUTE_MS, max: 2 * MINUTE_MS }),
      );
      // Many requests at once and at even times, as of a client that keeps to the limit.
      const steps = fc.record({ gapMs, count: fc.integer({ min: 1, max: 2 * perMinute }) });
      return fc.record({
        perMinute: fc.constant(perMinute),
        start: fc.nat(4_000_000_000_000),
        steps: fc.array(steps, { minLength: 1, maxLength: 8 }),
      });
    });
    fc.assert(
      fc.property(patterns, ({ perMinute, start, steps }) => {
        const takeExactly = createModelRateLimit(perMinute);
        let [now, bucket]: [number, TokenBucket | undefined] = [start, undefined];
        for (const { gapMs, count } of steps) {
          for (let index = 0; index < count; index++) {
            now += gapMs;
            const { bucket: next, ...result } = takeRateLimitToken(bucket, perMinute, now);
            expect(result).toEqual(takeExactly(now));
            bucket = next;
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("admits a client that sends a request each time that a token refilled", () => {
    // A float of tokens refused 280 of 4,200 such patterns once, or admitted one too early.
    for (const perMinute of [1, 3, 7, 9, 11, 13, 30, 49, 60, 70, 90, 110, 600, 700]) {
      const takeExactly = createModelRateLimit(perMinute);
      let bucket: TokenBucket | undefined;
      for (let index = 0; index < 3 * perMinute; index++) {
        // A minute's requests at once, then one at the first millisecond with a token.
        const refilled = Math.max(0, index - perMinute + 1);
        const now = Math.ceil((refilled * MINUTE_MS) / perMinute);
        const taken = takeRateLimitToken(bucket, perMinute, now);
        expect([perMinute, index, taken.isAdmitted]).toEqual([perMinute, index, true]);
        expect(taken.remaining).toBe(takeExactly(now).remaining);
        ({ bucket } = taken);
      }
    }
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
    const { remaining, retryAfterS } = takeRateLimitToken(holding(2, 2, 1000), 2, 0);
    expect({ remaining, retryAfterS }).toEqual({ remaining: 1, retryAfterS: 0 });
  });

  test("blocks for at most a minute if the clock is set back by a day", () => {
    const DAY_MS = 86_400_000;
    expect(takeTokensAt([DAY_MS, 0, 59_999, 120_000], 1)).toEqual([true, false, false, true]);
  });

  test("says when the next token is available after the clock went back", () => {
    const { bucket } = takeRateLimitToken(holding(0.5, 60, 3_600_000), 60, 0);
    const { isAdmitted, retryAfterS, fullAfterS } = takeRateLimitToken(bucket, 60, 0);
    expect({ isAdmitted, retryAfterS, fullAfterS }).toEqual({
      isAdmitted: false,
      retryAfterS: 61,
      fullAfterS: 120,
    });
    expect(takeRateLimitToken(bucket, 60, 60_000).isAdmitted).toBe(false);
    expect(takeRateLimitToken(bucket, 60, 61_000).isAdmitted).toBe(true);
  });

  test("takes a bucket of a higher limit as empty: the next token comes as fast as ever", () => {
    const { bucket, remaining, retryAfterS } = takeRateLimitToken(holding(0, 600, 0), 60, 0);
    expect({ remaining, retryAfterS }).toEqual({ remaining: 0, retryAfterS: 1 });
    expect(takeRateLimitToken(bucket, 60, 1000).isAdmitted).toBe(true);
  });

  test.each([-1, 0, 0.5, Number.NaN])("rejects %d requests a minute", (perMinute) => {
    const message = `perMinute must be a whole number from 1, got ${perMinute}`;
    expect(() => takeRateLimitToken(undefined, perMinute, 0)).toThrow(new RangeError(message));
  });
});
