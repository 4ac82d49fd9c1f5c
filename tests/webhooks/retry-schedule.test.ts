import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { computeNextAttempt } from "../../server/webhooks/delivery.ts";

describe("computeNextAttempt()", () => {
  /** The delays between all attempts, in seconds. */
  function listDelays(jitter: number): number[] {
    const delays: number[] = [];
    for (let attempts = 1; ; attempts++) {
      const next = computeNextAttempt({ attempts, now: 0, jitter });
      if (next === null) return delays;
      delays.push(next / 1000);
    }
  }

  test("gives delays that double up to 6 hours, for 28 attempts over about three days", () => {
    const delays = listDelays(0);
    expect(delays).toHaveLength(27);
    expect(delays.slice(0, 13)).toEqual([
      5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480,
    ]);
    expect(new Set(delays.slice(13))).toEqual(new Set([(6 * HOUR_MS) / 1000]));
    const days = [0, 0.5, 1].map((jitter) => {
      const seconds = listDelays(jitter).reduce((sum, delay) => sum + delay, 0);
      return Number(((seconds * 1000) / DAY_MS).toFixed(1));
    });
    expect(days).toEqual([4, 3, 2]);
  });

  test("gives an instant after now by half of the delay to the whole, with any jitter", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 27 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, jitter) => {
          const longest = Number(computeNextAttempt({ attempts, now: 0, jitter: 0 }));
          const next = Number(computeNextAttempt({ attempts, now: 0, jitter }));
          expect(next).toBeGreaterThanOrEqual(longest / 2);
          expect(next).toBeLessThanOrEqual(longest);
        },
      ),
    );
  });
});
