/**
 * The domain of creator metrics as pure functions without clock, network or disk: observations,
 * growth, pages, credits, rate limits, the monitoring list, saved lists, errors and resources. Also
 * has the interfaces of stores.
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
export { ENTITY_FIELDS, KINDS, type CountName, type EntityCounts } from "./kinds.ts";
export type { EntityFields, EntityKind, FieldType, ItemKind } from "./kinds.ts";
export type { KindDeclaration, OwnerKind } from "./kinds.ts";
export { parseObservation, parseObservationLine, type Counts } from "./observations.ts";
export type { FieldValue, Observation } from "./observations.ts";
export { createRejectionCollector } from "./rejections.ts";

// Growth and histories.
export { HISTORY_INTERVALS, computeCountChanges, groupIntoBuckets } from "./buckets.ts";
export type { HistoryBucket, HistoryInterval, HistoryPoint } from "./buckets.ts";
export { GAIN_PERIOD_DAYS, computeEntityGains, type EntityGains, type GainName } from "./growth.ts";
export type { SortedGainName } from "./growth.ts";
export { createComparisonTable, createHistoryPage, cutHistoryPage } from "./histories.ts";
export { findBucketRange, parseHistoryRequest, type ComparisonTable } from "./histories.ts";
export type { HistoryItem, HistoryPage, HistoryRequest } from "./histories.ts";

// Metrics of entities, and what is estimated.
export { computeAgeMultiple, type AgeComparison, type ItemViews } from "./metrics/age-multiple.ts";
export { METRICS, METRIC_UNITS, type ItemMetricName, type MetricName } from "./metrics/catalog.ts";
export type { MetricDefinition, MetricUnit, RateWindow } from "./metrics/catalog.ts";
export type { CountPoint } from "./metrics/count-points.ts";
export { computeEngagement } from "./metrics/engagement.ts";
export { computeOwnerEstimates, computeOwnerMetrics } from "./metrics/entity-metrics.ts";
export type { EntityMetrics, MeasuredItem, OwnerEstimates } from "./metrics/entity-metrics.ts";
export { ESTIMATES, type EstimateDefinition } from "./metrics/estimate-catalog.ts";
export { computeProjection } from "./metrics/milestones.ts";
export type { PassedMilestone, Projection } from "./metrics/milestones.ts";
export { computeRate, type CountHistory } from "./metrics/rates.ts";
export type { RowValues } from "./metrics/row-metrics.ts";
export { computeTrend, type Trend } from "./metrics/trend.ts";

// Pages and the queries that ask for them.
export { createNamedResults, parseBatchRequest, parseComparisonRequest } from "./batch.ts";
export type { ComparisonRequest } from "./batch.ts";
export { createAgeTable, parseItemComparisonRequest } from "./item-comparison.ts";
export type { AgeComparisonRequest, AgeRange, AgeTable, AgeValue } from "./item-comparison.ts";
export type { ComparedItems, DateComparisonRequest } from "./item-comparison.ts";
export type { ItemComparisonRequest } from "./item-comparison.ts";
export type { ListedRequest, NamesRequest } from "./names.ts";
export { cutPage, type CursorPage } from "./cursor.ts";
export { LIST_ORDERS, compareListPositions } from "./lists.ts";
export { SORTS, SORT_FIELDS } from "./list-sorts.ts";
export { encodeListCursor, parseListRequest, type ListPosition } from "./lists.ts";
export { parseItemListRequest, type ListRequest, type TableRequest } from "./lists.ts";
export type { ListFilters } from "./list-filters.ts";
export type { PercentName, SortName } from "./list-sorts.ts";
export { filterDays, paginate, parsePageRequest, type PageRequest } from "./pagination.ts";
export type { QueryParameters } from "./parameters.ts";
export { pageAfter, parseShortsRequest } from "./shorts.ts";
export type { ShortPosition, ShortsRequest } from "./shorts.ts";

// Credits, charges and the rate limit.
export { PAYMENT_TTL_MS, decideCharge, decideCharges, type ChargeDecision } from "./charges.ts";
export type { IdempotencyKey, Payment, RequestCharge } from "./charges.ts";
export { EMPTY_LEDGER, applyEntries, applyEntry, assertCreditAmount } from "./ledger.ts";
export { computeBalance, type CreditSums, type Ledger, type LedgerEntry } from "./ledger.ts";
export { takeRateLimitToken, type RateLimitResult, type TokenBucket } from "./token-bucket.ts";
export { createAccountDetails, parseUsageDays, type DayRange, type UsageDay } from "./usage.ts";

// The monitoring list, saved lists, and names.
export { addCreator, createCreatorList } from "./creators.ts";
export { createCreatorResult, getCreatorKey, parseCreator, removeCreator } from "./creators.ts";
export type { Creator, CreatorSet } from "./creators.ts";
export type { SavedNames, SavedNamesChange, StoredList, StoredSummary } from "./saved-lists.ts";
export { compareText, foldCase } from "./text.ts";

// Errors, instants and limits.
export { DomainError, ERROR_STATUSES, createInsufficientCreditsError } from "./errors.ts";
export { createItemNotFoundError, createNotFoundError } from "./errors.ts";
export { createServiceError, createVideoError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
export { DAYS_FILTER_RANGE, HISTORY_LIMIT_RANGE, LIST_LIMIT_RANGE } from "./limits.ts";
export { PAGE_LIMIT_RANGE, SHORTS_LIMIT_RANGE, type IntegerRange } from "./limits.ts";
export { DAY_MS, formatInstant, parseInstant } from "./time.ts";

// The resources of the HTTP interface, and their creation from entities.
export type * from "./resources/generated/types.ts";
export { listHistoryPoints, readFields, type KnownFields } from "./responses/entity-fields.ts";
export { createChannelList, createTable, createUserList } from "./responses/lists.ts";
export type { ListableEntity, ListableRow } from "./responses/lists.ts";
export type { Row, RowSource } from "./responses/rows.ts";
export { createFollowersPage, createTweetDetails } from "./responses/microblog.ts";
export { createTweetsPage, createUserDetails, findUsername } from "./responses/microblog.ts";
export { createChannelMetrics, createShortMetrics } from "./responses/metrics.ts";
export { createTweetMetrics, createUserMetrics, type NamedItem } from "./responses/metrics.ts";
export type { ListableTweet } from "./responses/microblog.ts";
export { createChannelDetails, createShortDetails, createShortsPage } from "./responses/video.ts";
export { findChannel, type ShortFields } from "./responses/video.ts";

// The interfaces of stores of your own.
export type * from "./stores.ts";
