/** The days that quotas are counted by. */

/** Where a quota's day begins at midnight. */
export type QuotaZone = "America/Los_Angeles" | "UTC";

/** Every zone begins its days at a multiple of this. */
const STEP_MS = 15 * 60_000;

/**
 * Makes a function that tells the quota day of an instant, as `2026-11-20`.
 *
 * It asks the calendar once for each quarter of an hour: a simulation asks for every request.
 */
export function createQuotaDayFormatter(zone: QuotaZone): (instant: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  let step = Number.NaN;
  let day = "";
  return (instant) => {
    if (Math.floor(instant / STEP_MS) !== step) {
      step = Math.floor(instant / STEP_MS);
      day = format.format(step * STEP_MS);
    }
    return day;
  };
}
