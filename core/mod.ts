/**
 * The domain of creator metrics as pure functions: observations, pages, growth, credits, the
 * monitoring list. They read no clock, network or disk.
 *
 * @example
 * import { applyObservation, paginate, parseObservationLine, EMPTY_ENTITY } from "@creator-metrics/core";
 *
 * const now = Date.parse("2026-11-20T12:00:00Z");
 * const line = '{"kind":"user","observedAt":"2026-11-20","username":"NASA","followers_count":7}';
 * const { entity, outcome } = applyObservation(EMPTY_ENTITY, parseObservationLine(line, now));
 * console.log(outcome, entity.attributes["username"]?.value); // new NASA
 * console.log(paginate(0, 50, entity.points.size).page_count); // 1
 *
 * @module
 */
export { parseBatchRequest, parseComparisonRequest } from "./batch.ts";
export type { ComparisonRequest, NamedKind } from "./batch.ts";
export { alignBuckets, computeChanges, findBucketEnd, findBucketStart } from "./buckets.ts";
export { findLastKnown, groupIntoBuckets, INTERVALS } from "./buckets.ts";
export type { Bucket, ComparisonRow, HistoryPoint, Interval } from "./buckets.ts";
export { channelKey, isChannelId, parseChannel } from "./channels.ts";
export { addCreator, CREATOR_PLATFORMS, CREATOR_USERNAME_PATTERN, creatorKey } from "./creators.ts";
export { parseCreator, removeCreator } from "./creators.ts";
export type { Creator, CreatorPlatform, CreatorSet, CreatorTransition } from "./creators.ts";
export { comparePositions, cutPage, decodeCursor, encodeCursor } from "./cursor.ts";
export { isShortSelected, pageAfter } from "./cursor.ts";
export { parseShortsRequest } from "./cursor.ts";
export type { CursorPage, ShortPosition, ShortsRequest } from "./cursor.ts";
export { encodeCsvRow, parseCsvRow } from "./csv.ts";
export type { CsvCell } from "./csv.ts";
export { computeDaysFilterStart, computeDaysFilterValidity, filterDays } from "./days.ts";
export { applyObservation, EMPTY_ENTITY, findNewestCounts } from "./entities.ts";
export { mergeAttributes, mergeCounts, mergeObservations } from "./entities.ts";
export type { Attribute, Attributes, Entity, ObservationOutcome } from "./entities.ts";
export type { MergeableObservation } from "./entities.ts";
export { ENTITY_KINDS, KIND_FIELDS } from "./entity-kinds.ts";
export type { EntityFields, EntityKind, FieldType } from "./entity-kinds.ts";
export { ERROR_STATUSES } from "./error-statuses.ts";
export type { ErrorCode, ServiceErrorName } from "./error-statuses.ts";
export { DomainError, quote } from "./errors.ts";
export { computeBaselineRange, computeFollowerChanges, computeGain } from "./growth.ts";
export { computeGains, GAIN_DAYS, KIND_GAINS } from "./growth.ts";
export type { CountPoint, FollowerChange, FollowerPoint, GainDefinition, Gains } from "./growth.ts";
export type { TimeRange } from "./growth.ts";
export { decodeHistoryCursor, encodeHistoryCursor, findPageStart } from "./history-request.ts";
export { HISTORY_DAYS, parseHistoryRequest } from "./history-request.ts";
export type { HistoryRequest } from "./history-request.ts";
export { thinHistory } from "./history.ts";
export { applyEntry, computeBalance, EMPTY_LEDGER } from "./ledger.ts";
export { InsufficientCreditsError, replay } from "./ledger.ts";
export type { CreditSums, Ledger, LedgerEntry } from "./ledger.ts";
export { BATCH_MAX_NAMES, COMPARISON_MAX_NAMES } from "./limits.ts";
export { CLOCK_SKEW_MAX_MS, DAYS_FILTER, HISTORY_MAX_POINTS } from "./limits.ts";
export { IDENTIFIER_MAX_CHARACTERS, LINE_MAX_BYTES, LINK_MAX_CHARACTERS } from "./limits.ts";
export { INTEGER_MAX, PAGE_LIMIT, PAGE_NUMBER, RECORD_MAX_POINTS, SHORTS_LIMIT } from "./limits.ts";
export { HISTORY_LIMIT, LIST_LIMIT, SEARCH_MAX_CHARACTERS, TEXT_MAX_CHARACTERS } from "./limits.ts";
export type { IntegerRange } from "./limits.ts";
export { CHANNEL_SORT_FIELDS, CHANNEL_SORTS, compareListPositions } from "./lists.ts";
export { decodeListCursor, USER_SORT_FIELDS } from "./lists.ts";
export { encodeListCursor, hasListParameter, LIST_ORDERS, parseListRequest } from "./lists.ts";
export { SEARCH_SUBSTRING_CHARACTERS, USER_SORTS } from "./lists.ts";
export type { ChannelSort, ListOptions, ListOrder, ListPosition, ListRequest } from "./lists.ts";
export type { UserSort } from "./lists.ts";
export { createObservationRowParser, findRowKind } from "./observation-rows.ts";
export { listObservationColumns, OBSERVATION_FORMATS } from "./observation-rows.ts";
export type { ObservationFormat, ParseObservationRow } from "./observation-rows.ts";
export { parseObservation, parseObservationLine } from "./observations.ts";
export type { Counts, FieldValue, Observation } from "./observations.ts";
export { paginate, parsePageRequest } from "./pagination.ts";
export type { PageRequest } from "./pagination.ts";
export { parseChoiceParameter, parseInteger, parseIntegerParameter } from "./parameters.ts";
export type { GetQueryValues } from "./parameters.ts";
export { applyRetentionRule, formatRetentionRule, parseRetentionPolicy } from "./retention.ts";
export { RETENTION_DAYS } from "./retention.ts";
export type { RetentionPolicy, RetentionRule } from "./retention.ts";
export { compareText, foldCase, isIdentifier } from "./text.ts";
export { DAY_MS, FIRST_INSTANT, formatDay, formatInstant, HOUR_MS, LAST_INSTANT } from "./time.ts";
export { MINUTE_MS, parseInstant } from "./time.ts";
export { takeToken } from "./token-bucket.ts";
export type { TakeTokenResult, TokenBucket } from "./token-bucket.ts";
export type { AccountDetails, UsageRow, UsageStatuses } from "./resources/account.ts";
export type { ChannelBatch, ChannelBatchRequest, ChannelComparison } from "./resources/batch.ts";
export type { ComparisonTable, NamedResult, UserBatch } from "./resources/batch.ts";
export type { UserBatchRequest, UserComparison } from "./resources/batch.ts";
export type { CreatorList, CreatorRequest, CreatorResult } from "./resources/creators.ts";
export type { ListedCreator } from "./resources/creators.ts";
export type { ServiceError, VideoError } from "./resources/errors.ts";
export type { ChannelCounts, ChannelHistory, HistoryItem } from "./resources/history.ts";
export type { HistoryPage, ShortCounts, ShortHistory, TweetCounts } from "./resources/history.ts";
export type { TweetHistory, UserCounts, UserHistory } from "./resources/history.ts";
export type { FollowersPage, ListedUser, Pagination } from "./resources/microblog.ts";
export type { TweetDetails, TweetRecord, TweetsPage } from "./resources/microblog.ts";
export type { UserDetails, UserList, UserSummary } from "./resources/microblog.ts";
export type { ChannelObservation, ObservationLine } from "./resources/observations.ts";
export type { ShortObservation, TweetObservation } from "./resources/observations.ts";
export type { UserObservation } from "./resources/observations.ts";
export type { ChannelDetails, ChannelList, ChannelSummary } from "./resources/video.ts";
export type { CursorPagination, ListedChannel, ShortDetails } from "./resources/video.ts";
export type { ShortSummary, ShortsPage } from "./resources/video.ts";
