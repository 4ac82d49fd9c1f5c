import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { computeNextAttempt } from "../../server/webhooks/retry-schedule.ts";

describe("computeNextAttempt()", () => {
  test("gives delays that double up to 6 hours, and ends after three days", () => {
    const delays: number[] = [];
    let now = 0;
    for (let attempts = 1; ; attempts++) {
      const next = computeNextAttempt({ at: 0, attempts, now, jitter: 0 });
      if (next === null) break;
      delays.push((next - now) / 1000);
      now = next;
    }
    expect(delays.slice(0, 13)).toEqual([
      5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480,
    ]);
    expect(new Set(delays.slice(13))).toEqual(new Set([(6 * HOUR_MS) / 1000]));
    expect(now).toBeGreaterThan(2.7 * DAY_MS);
    expect(now).toBeLessThanOrEqual(3 * DAY_MS);
  });

  test("gives an instant after now by half of the delay to the whole, with any jitter", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, jitter) => {
          const longest = Number(computeNextAttempt({ at: 0, attempts, now: 0, jitter: 0 }));
          const next = Number(computeNextAttempt({ at: 0, attempts, now: 0, jitter }));
          expect(next).toBeGreaterThanOrEqual(longest / 2);
          expect(next).toBeLessThanOrEqual(longest);
        },
      ),
    );
  });
});
