/**
 * Growth: gains over days, weeks and months, and histories by bucket with their changes.
 *
 * @module @creator-metrics/core/growth
 */
export * from "../buckets.ts";
export * from "../growth.ts";
export * from "../history-request.ts";
