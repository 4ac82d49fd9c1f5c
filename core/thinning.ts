/** Thins long histories: chooses at most a given number of points, which a response lists. */
import { assertWholeNumber } from "./errors.ts";

/** Cuts time into slices, upper bounds excluded: `[0, 30, 60, 90]` for 5 points from 0 to 90. */
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

/** Thins a history, oldest first: to the first point, the newest, and the newest of each slice. */
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

/** Thins a history by {@link computeSliceBounds}. Points to drop may already be missing. */
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
