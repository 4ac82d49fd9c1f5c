/** Computes the ranges of the axes of a chart. */
import uPlot from "uplot";

/**
 * Fits the values, with a least height.
 *
 * @param floor The least end of the added height: counts are not negative.
 */
export function createValueRange(leastSpan: number, floor: number): uPlot.Range.Function {
  return (_, min, max) => {
    const missing = Math.max(0, leastSpan - (max - min)) / 2;
    return uPlot.rangeNum(Math.max(floor, min - missing), max + missing, 0.1, true);
  };
}

/** Leaves room for half a bar at both ends, in seconds. */
export function getTimeMargin(times: readonly number[], isBars: boolean): number {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  return isBars && first < last ? (last - first) / (times.length - 1) / 2 : 0;
}

/** Shows a day around a single point. */
export function createTimeRange(times: readonly number[], isBars: boolean): uPlot.Range.Function {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  if (first === last) return () => [first - 43_200, first + 43_200];
  const margin = getTimeMargin(times, isBars);
  return (_, from, to) => [from - margin, to + margin];
}
