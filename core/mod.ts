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
 * @module @creator-metrics/core
 */

// Observations and entities.
export { EMPTY_ENTITY, applyObservation, applyObservations, findNewestCounts } from "./entities.ts";
export type { Attribute, Entity, OutcomeCounts } from "./entities.ts";
export { ENTITY_FIELDS, ENTITY_KINDS, KINDS } from "./kinds.ts";
export type { CountName, EntityCounts, EntityFields } from "./kinds.ts";
export type { EntityKind, FieldType, ItemKind, KindDeclaration, OwnerKind } from "./kinds.ts";
export { parseObservation, parseObservationLine } from "./observations.ts";
export type { Counts, FieldValue, Observation } from "./observations.ts";
export { createRejectionCollector } from "./rejections.ts";
export type { RejectionCollector } from "./rejections.ts";

// Growth and histories.
export { HISTORY_INTERVALS, groupIntoBuckets } from "./buckets.ts";
export type { HistoryBucket, HistoryInterval, HistoryPoint } from "./buckets.ts";
export { computeCountChanges } from "./count-changes.ts";
export { GAIN_PERIOD_DAYS, computeEntityGains } from "./growth.ts";
export type { EntityGains, GainName, GainPeriod } from "./growth.ts";
export { encodeHistoryCursor, findBucketRange, parseHistoryRequest } from "./history-request.ts";
export type { HistoryRequest } from "./history-request.ts";

// Pages and the queries that ask for them.
export { parseBatchRequest, parseComparisonRequest } from "./batch.ts";
export type { ComparisonRequest } from "./batch.ts";
export { compareShortPositions, cutPage } from "./cursor.ts";
export { pageAfter, parseShortsRequest } from "./cursor.ts";
export type { CursorPage, ShortPosition, ShortsRequest } from "./cursor.ts";
export { filterDays } from "./days.ts";
export { CHANNEL_SORTS, CHANNEL_SORT_FIELDS, LIST_ORDERS } from "./lists.ts";
export { USER_SORTS, USER_SORT_FIELDS, compareListPositions, encodeListCursor } from "./lists.ts";
export { parseListRequest } from "./lists.ts";
export type { ChannelSort, CursorList, ListOrder, ListPosition } from "./lists.ts";
export type { ListRequest, SortName, UserSort } from "./lists.ts";
export { paginate, parsePageRequest } from "./pagination.ts";
export type { PageRequest } from "./pagination.ts";
export type { QueryParameters } from "./parameters.ts";

// Credits, charges and the rate limit.
export { PAYMENT_TTL_MS, decideCharge, decideCharges } from "./charges.ts";
export type { ChargeDecision, IdempotencyKey, Payment } from "./charges.ts";
export type { RequestCharge } from "./charges.ts";
export { EMPTY_LEDGER, applyEntries, applyEntry, assertCreditAmount } from "./ledger.ts";
export { computeBalance } from "./ledger.ts";
export type { CreditSums, Ledger, LedgerEntry } from "./ledger.ts";
export { parseUsageDays } from "./usage.ts";
export type { DayRange, UsageDay } from "./usage.ts";
export { takeRateLimitToken } from "./token-bucket.ts";
export type { RateLimitResult, TokenBucket } from "./token-bucket.ts";

// The monitoring list, and names.
export { findChannel } from "./channels.ts";
export type { NamedChannel } from "./channels.ts";
export { CREATOR_PLATFORMS, addCreator, getCreatorKey } from "./creators.ts";
export { parseCreator, removeCreator } from "./creators.ts";
export type { Creator, CreatorSet, CreatorTransition } from "./creators.ts";
export { compareText, foldCase, isIdentifier } from "./text.ts";

// Errors, instants and limits.
export { ERROR_STATUSES } from "./error-statuses.ts";
export type { ErrorCode } from "./error-statuses.ts";
export { DomainError, createInsufficientCreditsError, createNotFoundError } from "./errors.ts";
export { DAYS_FILTER_RANGE, HISTORY_LIMIT_RANGE } from "./limits.ts";
export { LIST_LIMIT_RANGE, PAGE_LIMIT_RANGE, SHORTS_LIMIT_RANGE } from "./limits.ts";
export type { IntegerRange } from "./limits.ts";
export { DAY_MS, formatInstant, parseInstant } from "./time.ts";

// The resources of the HTTP interface, and their creation from entities.
export type * from "./resources/generated/types.ts";
export { createAccountDetails } from "./responses/account.ts";
export { createCreatorList, createCreatorResult } from "./responses/creators.ts";
export { listHistoryPoints, readFields } from "./responses/entity-fields.ts";
export type { AttributeValue, KnownFields } from "./responses/entity-fields.ts";
export { createNamedResults, createServiceError, createVideoError } from "./responses/errors.ts";
export type { NamedError, NamedResult } from "./responses/errors.ts";
export { createComparisonTable, createHistoryPage } from "./responses/histories.ts";
export type { ComparisonTable, HistoryItem, HistoryPage } from "./responses/histories.ts";
export { createChannelList, createUserList } from "./responses/lists.ts";
export type { ListableEntity } from "./responses/lists.ts";
export { createFollowersPage, createTweetDetails } from "./responses/microblog.ts";
export { createTweetsPage, createUserDetails, findUsername } from "./responses/microblog.ts";
export type { ListableTweet, TweetFields } from "./responses/microblog.ts";
export { createChannelDetails, createShortDetails, createShortsPage } from "./responses/video.ts";
export type { ShortFields } from "./responses/video.ts";

// The interfaces of stores of your own.
export type * from "./stores.ts";
