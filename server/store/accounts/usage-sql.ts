/**
 * The usage as rows of one query: those of the table `usage`, and the recent usage that the row of
 * an account has. Both can have rows of one key, endpoint and hour, so readers add them up.
 */
import { HOUR_MS } from "../../../core/time.ts";
import type { DayRange } from "../../../core/usage.ts";

/** The hour of an account's recent usage, as SQL. */
export const RECENT_HOUR = `recent_at / ${HOUR_MS}`;

/** The rows of usage that fulfil the conditions on account and hour, as SQL. */
export const usageSql = (...conditions: readonly string[]): string => `(
    SELECT *
    FROM usage
    WHERE ${["true", ...conditions].join(" AND ")}
    UNION ALL
    SELECT
      account, hour, key, endpoint, requests, credits,
      0 AS refunded, 0 AS refunds, 0 AS ok, 0 AS not_modified, 0 AS not_found, 0 AS failed
    FROM (
      SELECT
        id AS account,
        ${RECENT_HOUR} AS hour,
        recent_key AS key,
        recent_endpoint AS endpoint,
        recent_requests AS requests,
        recent_credits AS credits
      FROM accounts
      WHERE recent_requests > 0
    )
    WHERE ${["true", ...conditions].join(" AND ")}
  )`;

/** All rows of usage, as SQL. */
export const USAGE = usageSql();

/**
 * The day of an hour, in days since 1970-01-01, as SQL. In a time zone, a condition finds the hours
 * from each day on that follows one with more or less than 24 hours.
 *
 * @param hours The result of `listDayHours()`.
 */
export function createDaySql({ first, zone }: DayRange, hours: readonly number[]): string {
  if (zone === undefined) return "hour / 24";
  const runs: { readonly day: number; readonly hour: number; days: number }[] = [];
  for (const [index, hour] of hours.slice(0, -1).entries()) {
    const run = runs.at(-1);
    if (run !== undefined && hour === run.hour + 24 * run.days) run.days++;
    else runs.push({ day: first + index, hour, days: 1 });
  }
  // The last day of a run may be longer than the others. A run of a skipped day has no hour.
  const conditions = runs
    .toReversed()
    .map(
      ({ day, hour, days }) =>
        `WHEN hour >= ${hour} THEN ${day} + min(${days - 1}, (hour - ${hour}) / 24)`,
    );
  return `CASE ${conditions.join(" ")} END`;
}
