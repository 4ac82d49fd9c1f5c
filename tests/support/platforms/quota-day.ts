/** Quota days of the fakes, computed independently of the collectors. */

export type QuotaZone = "America/Los_Angeles" | "UTC";

/** In every time zone, days begin at a multiple of this. */
const STEP_MS = 15 * 60_000;

/**
 * Creates a function that returns the quota day of an instant, as `2026-11-20`. It is cached for each
 * quarter of an hour, because a simulation needs it for every request.
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
