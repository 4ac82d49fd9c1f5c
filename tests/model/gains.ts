/** A naive model of gains: from the newest count to the newest known one from N to 2N days before. */
import { DAY_MS } from "../../core/time.ts";

/** A count at an instant, in milliseconds since 1970 UTC; `null` is unknown. */
export interface CountPoint {
  readonly at: number;
  readonly count: number | null;
}

/** Computes the gains of a count. @param points In any order, no two at one instant. */
export function modelGains(points: readonly CountPoint[]) {
  const [newest, ...older] = points.toSorted((a, b) => b.at - a.at);
  const computeGain = (days: number) => {
    if (newest === undefined || newest.count === null) return null;
    const [latest, earliest] = [newest.at - days * DAY_MS, newest.at - 2 * days * DAY_MS];
    const base = older.find(({ at, count }) => count !== null && at <= latest && at >= earliest);
    return base === undefined ? null : newest.count - (base.count ?? 0);
  };
  return { daily: computeGain(1), weekly: computeGain(7), monthly: computeGain(30) };
}
