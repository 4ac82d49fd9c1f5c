/**
 * Which observations are kept, and which points of a long history are listed.
 *
 * @module @creator-metrics/core/retention
 */
export { thinHistory } from "../history.ts";
export { applyRetentionRule, formatRetentionRule, parseRetentionPolicy } from "../retention.ts";
export { RETENTION_DAYS_RANGE } from "../retention.ts";
export type { RetentionPolicy, RetentionRule } from "../retention.ts";
