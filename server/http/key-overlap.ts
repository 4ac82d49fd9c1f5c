/** How long a replaced API key stays valid: the syntax, and the parser of durations. */
import { createInvalidRequestError, quoteValue } from "../../core/errors.ts";
import { DAY_MS, HOUR_MS, LAST_INSTANT, MINUTE_MS } from "../../core/time.ts";

export const DEFAULT_OVERLAP = "24h";
export const OVERLAP_PATTERN = "^(?:0|\\d{1,6}[smhdw])$";
export const OVERLAP_SYNTAX = "0 or a duration (30s, 10m, 12h, 7d, 2w)";

const OVERLAP_UNITS_MS = {
  s: 1000,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
} as const;

/** Parses a duration such as `12h`, `90d` or `8w` to milliseconds. */
export function parseDuration(
  text: string,
  unitsMs: Readonly<Record<string, number>>,
): number | undefined {
  const [, amount = "", unit = ""] = /^(\d{1,6})([a-z])$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  return unitMs && Number(amount) * unitMs;
}

/** @param syntax What is allowed, for the error. */
export function parseOverlap(
  text: string,
  { now, maxMs = Infinity, syntax }: { now: number; maxMs?: number; syntax: string },
): number {
  const overlapMs = text === "0" ? 0 : parseDuration(text, OVERLAP_UNITS_MS);
  const isAllowed = overlapMs !== undefined && overlapMs <= maxMs;
  if (isAllowed && now + overlapMs <= LAST_INSTANT) return overlapMs;
  throw createInvalidRequestError(`overlap must be ${syntax}, got ${quoteValue(text)}`);
}
