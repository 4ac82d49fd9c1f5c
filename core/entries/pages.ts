/**
 * Pages: by number, by cursor, and of sorted lists; batches; and the parameters of them all.
 *
 * @module @creator-metrics/core/pages
 */
export type { ErrorCode } from "../error-statuses.ts";
export { DomainError } from "../errors.ts";
export { parseBatchRequest, parseComparisonRequest } from "../batch.ts";
export type { BatchKind, ComparisonRequest } from "../batch.ts";
export { compareShortPositions, cutPage, decodeShortsCursor } from "../cursor.ts";
export { encodeShortsCursor, isShortSelected, pageAfter, parseShortsRequest } from "../cursor.ts";
export type { CursorPage, ShortPosition, ShortsRequest } from "../cursor.ts";
export { computeDaysFilterStart, computeDaysFilterValidity, filterDays } from "../days.ts";
export { cutListPage, matchesListFilters } from "../list-pages.ts";
export type { ListFilterFields } from "../list-pages.ts";
export { CHANNEL_SORT_FIELDS, CHANNEL_SORTS, compareListPositions } from "../lists.ts";
export { decodeListCursor, encodeListCursor, hasListParameter, LIST_ORDERS } from "../lists.ts";
export { parseListRequest, SEARCH_SUBSTRING_MIN_CHARACTERS, USER_SORT_FIELDS } from "../lists.ts";
export { USER_SORTS } from "../lists.ts";
export type { ChannelSort, ListOptions, ListOrder, ListPosition, ListRequest } from "../lists.ts";
export type { UserSort } from "../lists.ts";
export { paginate, parsePageRequest } from "../pagination.ts";
export type { PageRequest } from "../pagination.ts";
export { parseChoiceParameter, parseInteger, parseIntegerParameter } from "../parameters.ts";
export type { GetQueryValues } from "../parameters.ts";
