/** The ranges of charts: their lengths and buckets, and the time axis with its gaps. */
import { findUtcBucketEnd, type HistoryInterval } from "../../core/buckets.ts";
import { HISTORY_LIMIT_RANGE } from "../../core/limits.ts";
import { DAY_MS, formatInstant, HOUR_MS, isInstant, parseInstant } from "../../core/time.ts";
import { formatPoint, type TimeScale } from "./format.ts";

export const RANGES = {
  "7d": { label: "7 days", days: 7, interval: "hour" },
  "30d": { label: "30 days", days: 30, interval: "day" },
  "1y": { label: "1 year", days: 365, interval: "day" },
  all: { label: "All", days: null, interval: "week" },
} as const;

type FixedRange = keyof typeof RANGES;

/** A fixed range, or its first and last day in UTC: `2026-10-01..2026-10-15`. */
export type Range = FixedRange | `${string}..${string}`;

const STEPS = [
  ["hour", HOUR_MS],
  ["day", DAY_MS],
  ["week", 7 * DAY_MS],
] as const;

const isFixed = (text: string): text is FixedRange => Object.hasOwn(RANGES, text);

/**
 * Parses a range of days; `undefined` if it is fixed, or if its days do not exist in this order. The
 * end of the last day must be an instant, too: requests send it.
 */
export function parseDays(text: string): Readonly<Record<"from" | "to", string>> | undefined {
  const days = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(text);
  const [, from = "", to = ""] = days ?? [];
  const [first, last] = [parseInstant(from), parseInstant(to)];
  if (first === undefined || last === undefined || first > last) return undefined;
  return isInstant(last + DAY_MS) ? { from, to } : undefined;
}

const isRange = (text: string): text is Range => isFixed(text) || parseDays(text) !== undefined;

export const parseRange = (text: string | null, other: FixedRange = "30d"): Range =>
  text !== null && isRange(text) ? text : other;

export function getRangeLabel(range: Range): string {
  if (isFixed(range)) return RANGES[range].label;
  const { from = "", to = "" } = parseDays(range) ?? {};
  return [from, to].map((day) => formatPoint(Date.parse(day), "utc")).join(" – ");
}

/** The longest range of chosen days that is read in hours. */
const HOURLY_MAX_MS = 7 * DAY_MS;

/**
 * Plans the history of a range. The first day is whole, so that reloads send the same request. The
 * counts of a short or tweet change fast at first, so its buckets are as short as one page of the
 * history allows.
 */
export function planHistory(range: Range, now: number, since?: number) {
  const days = parseDays(range);
  const fixed = isFixed(range) ? RANGES[range] : undefined;
  const end = days === undefined ? now + DAY_MS : Date.parse(days.to) + DAY_MS;
  const fixedStart = fixed?.days == null ? 0 : now - fixed.days * DAY_MS;
  const start = days === undefined ? Math.max(fixedStart, since ?? 0) : Date.parse(days.from);
  const lengthMs = end - Math.max(start, since ?? start);
  const fits = (ms: number) => lengthMs <= ms * HISTORY_LIMIT_RANGE.max;
  const isChosen = ([name, ms]: (typeof STEPS)[number]) => {
    if (since !== undefined) return fits(ms);
    if (fixed !== undefined) return name === fixed.interval;
    return ms === HOUR_MS ? lengthMs <= HOURLY_MAX_MS : fits(ms);
  };
  const [interval, stepMs] = STEPS.find(isChosen) ?? STEPS[2];
  const from = formatInstant(start).slice(0, 10);
  // The end of a history is not part of it.
  const to = days && { to: formatInstant(end).slice(0, 10) };
  return { query: { from, ...to, interval }, interval, stepMs };
}

/** Finds the start of the newest bucket if it was unfinished when it was read; else Infinity. */
function findUnfinishedStart(
  instants: readonly number[],
  interval: HistoryInterval,
  readAt: number,
): number {
  const newest = instants.at(-1);
  return newest !== undefined && findUtcBucketEnd(newest, interval) > readAt ? newest : Infinity;
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

/** Gaps shorter than this are none: an item is observed again every hour or two while it is new. */
const AGE_GAP_MIN_MS = 3 * HOUR_MS;

/** Decides which time without a value is a gap, at an age in milliseconds. */
export const getAgeGapMs = (age: number): number => Math.max(AGE_GAP_MIN_MS, age / 6);

/** The axis of items over each other, by hours since the publication of each. */
export const createAgeAxis = (rows: readonly { readonly hours: number }[]) => ({
  instants: rows.map(({ hours }) => hours * HOUR_MS),
  timeScale: "age" as const,
  getGapMs: getAgeGapMs,
});
