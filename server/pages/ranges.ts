/** The ranges of charts: their lengths and buckets, and the time axis with its gaps. */
import { findBucketEnd, type HistoryInterval } from "../../core/buckets.ts";
import { HISTORY_LIMIT_RANGE } from "../../core/limits.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import type { TimeScale } from "./format.ts";

export const RANGES = {
  "7d": { label: "7 days", days: 7, interval: "hour" },
  "30d": { label: "30 days", days: 30, interval: "day" },
  "1y": { label: "1 year", days: 365, interval: "day" },
  all: { label: "All", days: null, interval: "week" },
} as const;

export type Range = keyof typeof RANGES;

const STEPS = [
  ["hour", HOUR_MS],
  ["day", DAY_MS],
  ["week", 7 * DAY_MS],
] as const;

const isRange = (text: string): text is Range => Object.hasOwn(RANGES, text);

export const parseRange = (text: string | null, other: Range = "30d"): Range =>
  text !== null && isRange(text) ? text : other;

/**
 * Plans the history of a range. The first day is whole, so that reloads send the same request. The
 * counts of a short or tweet change fast at first, so its buckets are as short as one page of the
 * history allows.
 */
export function planHistory(range: Range, now: number, since?: number) {
  const { days, interval } = RANGES[range];
  const start = Math.max(days === null ? 0 : now - days * DAY_MS, since ?? 0);
  const fits = (ms: number) => now + DAY_MS - start <= ms * HISTORY_LIMIT_RANGE.max;
  const [name, stepMs] =
    STEPS.find(([known, ms]) => (since === undefined ? known === interval : fits(ms))) ?? STEPS[2];
  return { from: formatInstant(start).slice(0, 10), interval: name, stepMs };
}

/** Finds the start of the newest bucket if it was unfinished when it was read; else Infinity. */
function findUnfinishedStart(
  instants: readonly number[],
  interval: HistoryInterval,
  readAt: number,
): number {
  const newest = instants.at(-1);
  return newest !== undefined && findBucketEnd(newest, interval) > readAt ? newest : Infinity;
}

/**
 * Decides which time without an observation is a gap. A short or tweet is observed again whenever
 * its age has grown by a twenty-fourth, so a gap is four times as long.
 */
function createGapRule(instants: readonly number[], stepMs: number, since?: number) {
  const spaces = instants.slice(1).map((at, index) => at - (instants[index] ?? at));
  const median = spaces.toSorted((a, b) => a - b)[Math.floor(spaces.length / 2)] ?? 0;
  const usualMs = Math.max(stepMs * 1.5, median * 3);
  return (at: number) => Math.max(usualMs, since === undefined ? 0 : (at - since) / 6);
}

export function createTimeAxis(
  { interval, stepMs }: { readonly interval: HistoryInterval; readonly stepMs: number },
  rows: readonly { readonly timestamp: string }[],
  readAt: number,
  since?: number,
) {
  const instants = rows.map(({ timestamp }) => Date.parse(timestamp));
  // The starts of buckets of a day and longer are dates.
  const timeScale: TimeScale = interval === "raw" || interval === "hour" ? "local" : "utc";
  const unfinishedFrom = findUnfinishedStart(instants, interval, readAt);
  return { instants, timeScale, unfinishedFrom, getGapMs: createGapRule(instants, stepMs, since) };
}
