/** Long histories: which observations are listed when there are more than an answer holds. */

/**
 * The slices of time that a long history keeps the newest observation of. With the first and the
 * newest observation themselves, that makes at most `maxPoints`.
 *
 * @param firstAt The first observation's instant.
 * @param newestAt The newest observation's instant, later than the first.
 * @param maxPoints How many points the answer holds, 3 or more.
 * @returns The slices' bounds in rising order, one more than there are slices. A slice runs from
 * its bound, included, to the next, excluded; the first one leaves the first observation out.
 *
 * @example
 * computeSliceBounds(0, 90, 5); // [0, 30, 60, 90]: three slices between the two ends
 */
export function computeSliceBounds(firstAt: number, newestAt: number, maxPoints: number): number[] {
  const slices = maxPoints - 2;
  const spanMs = newestAt - firstAt;
  // Whole and fractional parts apart: the product of a long span would not be exact.
  const stepMs = Math.floor(spanMs / slices);
  const remainder = spanMs % slices;
  return Array.from(
    { length: slices + 1 },
    (_, index) => firstAt + stepMs * index + Math.ceil((remainder * index) / slices),
  );
}

/**
 * Thins a history: all of it up to `maxPoints`; past that the first, the newest, and the newest of
 * each of equal slices of the time between.
 *
 * @param points Oldest first, no two at one instant.
 * @param maxPoints How many points the answer holds, 3 or more.
 *
 * @example
 * thinHistory(points, HISTORY_MAX_POINTS).length <= HISTORY_MAX_POINTS; // true
 */
export function thinHistory<Point extends { readonly at: number }>(
  points: readonly Point[],
  maxPoints: number,
): Point[] {
  const [first, newest] = [points[0], points.at(-1)];
  if (points.length <= maxPoints || first === undefined || newest === undefined) return [...points];
  return keepNewestOfSlices(points, computeSliceBounds(first.at, newest.at, maxPoints));
}

/**
 * The first point, the newest, and the newest of each slice of the time between.
 *
 * @param points Oldest first, no two at one instant, of a history that is longer than its answer;
 * points that are none of these may be left out.
 * @param bounds Those of the slices, as {@link computeSliceBounds} gives them.
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
  const last = points.length - 1;
  return points.filter(({ at }, index) => {
    if (index === 0 || index === last) return true;
    while (at >= (bounds[slice + 1] ?? Infinity)) slice++;
    const next = points[index + 1];
    return (next?.at ?? Infinity) >= (bounds[slice + 1] ?? Infinity);
  });
}
