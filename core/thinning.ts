/** Thins long histories: chooses the points that a response lists. */
import { assertWholeNumber } from "./errors.ts";

/**
 * Cuts the time of a history into slices. A thinned history lists the first point, the newest point
 * of each slice and the newest of all, at most `maxPoints` in all.
 *
 * @param firstAt The instant of the first point.
 * @param newestAt The instant of the newest point, later than the first.
 * @param maxPoints 3 or more.
 * @returns The bounds of the slices, rising, one more than slices. A slice includes its lower bound
 * and excludes its upper one.
 * @throws {RangeError} If `maxPoints` is no whole number from 3.
 *
 * @example
 * computeSliceBounds(0, 90, 5); // [0, 30, 60, 90]
 */
export function computeSliceBounds(firstAt: number, newestAt: number, maxPoints: number): number[] {
  assertWholeNumber("maxPoints", maxPoints, 3);
  const slices = maxPoints - 2;
  const spanMs = newestAt - firstAt;
  // Quotient and remainder apart: the product of a long span would not be exact.
  const stepMs = Math.floor(spanMs / slices);
  const remainder = spanMs % slices;
  return Array.from(
    { length: slices + 1 },
    (_, index) => firstAt + stepMs * index + Math.ceil((remainder * index) / slices),
  );
}

/**
 * Thins a history that has more than `maxPoints` points: to the first, the newest, and the newest
 * of each of equal slices of the time between.
 *
 * @param points Oldest first, no two at one instant.
 * @param maxPoints 3 or more.
 * @throws {RangeError} If `maxPoints` is no whole number from 3.
 *
 * @example
 * thinHistory([{ at: 0 }, { at: 2 }, { at: 4 }, { at: 90 }], 3);
 * // [{ at: 0 }, { at: 4 }, { at: 90 }]
 */
export function thinHistory<Point extends { readonly at: number }>(
  points: readonly Point[],
  maxPoints: number,
): Point[] {
  assertWholeNumber("maxPoints", maxPoints, 3);
  const [first, newest] = [points[0], points.at(-1)];
  // Stryker disable next-line ConditionalExpression: only the types need the last two conditions.
  if (points.length <= maxPoints || first === undefined || newest === undefined) return [...points];
  return keepNewestOfSlices(points, computeSliceBounds(first.at, newest.at, maxPoints));
}

/**
 * Keeps the first point, the newest, and the newest of each slice.
 *
 * @param points Oldest first, no two at one instant; points that would not be kept may be missing.
 * @param bounds The bounds of the slices, from {@link computeSliceBounds}.
 *
 * @example
 * keepNewestOfSlices([{ at: 0 }, { at: 2 }, { at: 4 }, { at: 90 }], [0, 30, 60, 90]);
 * // [{ at: 0 }, { at: 4 }, { at: 90 }]
 */
export function keepNewestOfSlices<Point extends { readonly at: number }>(
  points: readonly Point[],
  bounds: readonly number[],
): Point[] {
  let slice = 0;
  return points.filter(({ at }, index) => {
    if (index === 0) return true;
    while (at >= (bounds[slice + 1] ?? Infinity)) slice++;
    const next = points[index + 1];
    return (next?.at ?? Infinity) >= (bounds[slice + 1] ?? Infinity);
  });
}
