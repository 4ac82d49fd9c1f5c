/**
 * Instants: parses and formats them.
 *
 * @module @creator-metrics/core/time
 */
export { DAY_MS, FIRST_INSTANT, formatDay, formatInstant, formatInstantOrNull } from "../time.ts";
export { HOUR_MS, LAST_INSTANT, MINUTE_MS, parseInstant } from "../time.ts";
