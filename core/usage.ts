/** Usage by day: which days a client asked for. */
import { DomainError, quote } from "./errors.ts";
import { USAGE_DAYS } from "./limits.ts";
import { readSingleValue, type GetQueryValues } from "./parameters.ts";
import { DAY_MS, FIRST_INSTANT, formatDay, parseInstant } from "./time.ts";

const FIRST_DAY = FIRST_INSTANT / DAY_MS;

/** A range of days, both ends included, counted from 1970 UTC. */
export interface DayRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads `from` and `to`, days of UTC, both included. Without `to` it is today; without `from`, as
 * many days as the default says.
 *
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Invalid Request`, with the parameter and its value.
 *
 * @example
 * parseDayRange((name) => (name === "from" ? ["1970-01-02"] : []), 3 * DAY_MS);
 * // { first: 1, last: 3 }
 */
export function parseDayRange(getValues: GetQueryValues, now: number): DayRange {
  const last = parseDayParameter("to", getValues("to")) ?? Math.floor(now / DAY_MS);
  const first = parseDayParameter("from", getValues("from")) ?? last - USAGE_DAYS.default + 1;
  if (first < FIRST_DAY) {
    const earliestTo = formatDay(FIRST_DAY + USAGE_DAYS.default - 1);
    throw new DomainError(
      "Invalid Request",
      `to must be ${earliestTo} or later where from is left out, got ${formatDay(last)}`,
    );
  }
  const days = last - first + 1;
  if (days < USAGE_DAYS.min || days > USAGE_DAYS.max) {
    throw new DomainError(
      "Invalid Request",
      `from must be at or before to, and at most ${USAGE_DAYS.max} days, both included, ` +
        `got ${formatDay(first)} to ${formatDay(last)}`,
    );
  }
  return { first, last };
}

function parseDayParameter(name: string, values: readonly string[]): number | undefined {
  const text = readSingleValue(name, values);
  if (text === undefined) return undefined;
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseInstant(text) : undefined;
  if (instant === undefined) {
    throw new DomainError(
      "Invalid Request",
      `${name} must be a day that exists (2026-11-20), got ${quote(text)}`,
    );
  }
  return instant / DAY_MS;
}
