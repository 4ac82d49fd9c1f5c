/** The age at which items over each other are compared in a table. */
import { HOUR_MS } from "../../../core/time.ts";
import { getAgeGapMs } from "../ranges.ts";

type Values = readonly (number | null)[];

/**
 * Finds the greatest age until which all items are known: that of the youngest item.
 *
 * @param series The counts of each item, a value for each row.
 * @returns The age, and a function that finds the count of an item at this age: `null` if the count
 * before it is from before a gap.
 */
export function findCommonAge(
  series: readonly { readonly values: Values }[],
  rows: readonly { readonly hours: number }[],
) {
  const known = series.map(({ values }) => values.findLastIndex((value) => value !== null));
  const row = Math.min(...known.filter((index) => index !== -1));
  const hours = rows[row]?.hours;
  if (hours === undefined || series.length < 2) return undefined;
  const gapHours = getAgeGapMs(hours * HOUR_MS) / HOUR_MS;
  const isClose = (index: number) => index <= row && hours - (rows[index]?.hours ?? 0) <= gapHours;
  const findCount = (values: Values) =>
    values.findLast((value, index) => value !== null && isClose(index)) ?? null;
  return { hours, findCount };
}
