/** Long histories: which observations are listed when there are more than an answer holds. */

/**
 * The slices of time that a long history keeps the newest observation of. With the first and the
 * newest observation themselves, that makes at most `maxPoints`.
 *
 * @param first The first observation's instant.
 * @param newest The newest observation's instant, later than the first.
 * @param maxPoints How many points the answer holds, 3 or more.
 * @returns The slices' bounds in rising order, one more than there are slices. A slice runs from
 * its bound, included, to the next, excluded; the first one leaves the first observation out.
 *
 * @example
 * historyBounds(0, 90, 5); // [0, 30, 60, 90]: three slices between the two ends
 */
export function historyBounds(first: number, newest: number, maxPoints: number): number[] {
  const slices = maxPoints - 2;
  const span = newest - first;
  // Whole and fractional parts apart: the product of a long span would not be exact.
  const step = Math.floor(span / slices);
  const rest = span % slices;
  return Array.from(
    { length: slices + 1 },
    (_, index) => first + step * index + Math.ceil((rest * index) / slices),
  );
}

/**
 * Thins a history: all of it up to `maxPoints`; past that the first, the newest, and the newest of
 * each of equal slices of the time between.
 *
 * @param points Oldest first, no two at one instant.
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
  const bounds = historyBounds(first.at, newest.at, maxPoints);
  let slice = 0;
  const kept: Point[] = [];
  points.slice(1, -1).forEach((point, index, inner) => {
    while (point.at >= (bounds[slice + 1] ?? Infinity)) slice++;
    const next = inner[index + 1];
    if (next === undefined || next.at >= (bounds[slice + 1] ?? Infinity)) kept.push(point);
  });
  return [first, ...kept, newest];
}
