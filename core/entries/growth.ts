/**
 * Growth: gains over days, weeks and months, and histories by bucket with their changes.
 *
 * @module
 */
export * from "../buckets.ts";
export * from "../growth.ts";
export * from "../history-request.ts";
