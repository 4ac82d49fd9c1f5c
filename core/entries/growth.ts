/**
 * Growth: gains over days, weeks and months, and histories by bucket with their changes.
 *
 * @module @creator-metrics/core/growth
 */
export type { ErrorCode } from "../error-statuses.ts";
export { DomainError } from "../errors.ts";
export { alignBuckets, computeCountChanges, findBucketEnd, findBucketStart } from "../buckets.ts";
export { fillUnknownCounts, findLastKnownCounts, groupIntoBuckets } from "../buckets.ts";
export { HISTORY_INTERVALS, sortPoints } from "../buckets.ts";
export type { ComparisonRow, HistoryBucket, HistoryInterval, HistoryPoint } from "../buckets.ts";
export { computeEntityGains, computeFollowerChanges, computeGain } from "../growth.ts";
export { computeGainBaseline, computeGains, GAIN_DEFINITIONS } from "../growth.ts";
export { GAIN_PERIOD_DAYS } from "../growth.ts";
export type { CountPoint, EntityGains, FollowerChange, FollowerPoint } from "../growth.ts";
export type { GainDefinition, Gains, TimeRange } from "../growth.ts";
export { decodeHistoryCursor, encodeHistoryCursor } from "../history-request.ts";
export { findBucketRange, HISTORY_CURSOR_MAX_CHARACTERS } from "../history-request.ts";
export { HISTORY_DEFAULT_DAYS, parseHistoryRequest } from "../history-request.ts";
export type { BucketRange, HistoryRequest } from "../history-request.ts";
