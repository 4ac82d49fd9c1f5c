/** The ranges of charts: how far back each goes, and in what buckets. */
import type { HistoryInterval } from "../../core/buckets.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";

export const RANGES = ["7d", "30d", "1y", "all"] as const;

export type Range = (typeof RANGES)[number];

interface RangeDefinition {
  readonly label: string;
  /** Days back; `null` is everything. */
  readonly days: number | null;
  readonly interval: HistoryInterval;
  /** What follows a bucket without a gap, in milliseconds. */
  readonly stepMs: number;
}

const DEFINITIONS: Readonly<Record<Range, RangeDefinition>> = {
  "7d": { label: "7 days", days: 7, interval: "hour", stepMs: HOUR_MS },
  "30d": { label: "30 days", days: 30, interval: "day", stepMs: DAY_MS },
  "1y": { label: "1 year", days: 365, interval: "day", stepMs: DAY_MS },
  all: { label: "All", days: null, interval: "week", stepMs: 7 * DAY_MS },
};

export function describeRange(range: Range): RangeDefinition {
  return DEFINITIONS[range];
}

/** The range that an address names; 30 days by default. */
export function parseRange(text: string | null): Range {
  return RANGES.find((range) => range === text) ?? "30d";
}

/** The query of a history for a range. The first day is whole, so that reloads ask for the same. */
export function createHistoryQuery(range: Range, now: number) {
  const { days, interval } = DEFINITIONS[range];
  const from = days === null ? "1990-01-01" : formatInstant(now - days * DAY_MS).slice(0, 10);
  return { from, interval, limit: 1000 };
}
