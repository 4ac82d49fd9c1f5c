/** Arbitrary histories: points from the oldest to the newest, each at another instant. */
import * as fc from "fast-check";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../../core/time.ts";
import type { Point } from "../../../server/store/history/chunk-codec.ts";
import { counts, instants } from "./values.ts";

/** Points at any instants with any counts; enough of them for many chunks. */
export function randomPoints(width: number): fc.Arbitrary<Point[]> {
  const count = fc.oneof(fc.constant(null), fc.constantFrom(0, INTEGER_MAX), counts);
  const point = fc.record({
    at: fc.oneof(instants, fc.constantFrom(FIRST_INSTANT, LAST_INSTANT, -1, 0, 1)),
    counts: fc.array(count, { minLength: width, maxLength: width }),
  });
  return fc
    .uniqueArray(point, { selector: ({ at }) => at, maxLength: 200, size: "max" })
    .map((points) => points.toSorted((a, b) => a.at - b.at));
}

/** Milliseconds between observations: bursts, usual intervals and long gaps. */
const gapsMs = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.constant(900_000),
  fc.integer({ min: 3_500_000, max: 3_700_000 }),
  fc.integer({ min: 1, max: 200 }).map((days) => days * 86_400_000),
);

/** Realistic points: counts grow, seldom fall, and some are unknown. */
export function growingPoints(width: number, minLength = 0): fc.Arbitrary<Point[]> {
  const growth = fc.oneof(fc.constant(0), fc.integer({ min: -20, max: 3000 }), fc.constant(null));
  const step = fc.record({
    gap: gapsMs,
    growths: fc.array(growth, { minLength: width, maxLength: width }),
  });
  return fc
    .tuple(
      fc.integer({ min: Date.UTC(2010, 0), max: Date.UTC(2012, 0) }),
      fc.array(fc.nat(1e9), { minLength: width, maxLength: width }),
      fc.array(step, { minLength, maxLength: minLength + 300, size: "max" }),
    )
    .map(([start, firstCounts, steps]) => {
      let at = start;
      let currentCounts = firstCounts;
      return steps.map(({ gap: gapMs, growths }) => {
        at += gapMs;
        currentCounts = currentCounts.map((count, index) =>
          Math.max(0, count + (growths[index] ?? 0)),
        );
        return {
          at,
          counts: currentCounts.map((count, index) => (growths[index] === null ? null : count)),
        };
      });
    });
}

/** Random or realistic points. */
export function mixedPoints(width: number): fc.Arbitrary<Point[]> {
  return fc.oneof(randomPoints(width), growingPoints(width));
}
