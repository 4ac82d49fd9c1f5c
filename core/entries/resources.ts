/**
 * The resources of the HTTP interface: their types, and how they are created from entities.
 *
 * @module @creator-metrics/core/resources
 */
export type { ErrorCode } from "../error-statuses.ts";
export { DomainError } from "../errors.ts";
export type { AccountDetails, UsageRow, UsageStatuses } from "../resources/account.ts";
export type { ChannelBatch, ChannelBatchRequest, ChannelComparison } from "../resources/batch.ts";
export type { ComparisonTable, NamedResult, UserBatch } from "../resources/batch.ts";
export type { UserBatchRequest, UserComparison } from "../resources/batch.ts";
export type { CreatorList, CreatorRequest, CreatorResult } from "../resources/creators.ts";
export type { ListedCreator } from "../resources/creators.ts";
export type { ServiceError, VideoError } from "../resources/errors.ts";
export type { ChannelCounts, ChannelHistory, HistoryItem } from "../resources/history.ts";
export type { HistoryPage, ShortCounts, ShortHistory, TweetCounts } from "../resources/history.ts";
export type { TweetHistory, UserCounts, UserHistory } from "../resources/history.ts";
export type { FollowersPage, ListedUser, Pagination } from "../resources/microblog.ts";
export type { TweetDetails, TweetRecord, TweetsPage, UserDetails } from "../resources/microblog.ts";
export type { UserList, UserSummary } from "../resources/microblog.ts";
export type { ChannelObservation, ObservationLine } from "../resources/observations.ts";
export type { ShortObservation, TweetObservation } from "../resources/observations.ts";
export type { UserObservation } from "../resources/observations.ts";
export type { ChannelDetails, ChannelList, ChannelSummary } from "../resources/video.ts";
export type { CursorPagination, ListedChannel, ShortDetails } from "../resources/video.ts";
export type { ShortsPage, ShortSummary } from "../resources/video.ts";
export { createCreatorResult } from "../resources/creator-resources.ts";
export { createNamedResults, createServiceError } from "../resources/error-resources.ts";
export { createVideoError } from "../resources/error-resources.ts";
export type { NamedError } from "../resources/error-resources.ts";
export { createFieldReader, listHistoryPoints } from "../resources/entity-fields.ts";
export type { FieldReader } from "../resources/entity-fields.ts";
export { createComparisonRows, createComparisonTable } from "../resources/history-resources.ts";
export { createFollowersPage, createHistoryItems } from "../resources/history-resources.ts";
export { createHistoryPage } from "../resources/history-resources.ts";
export type { EntityCounts } from "../entity-kinds.ts";
export { createChannelList, createUserList } from "../resources/list-resources.ts";
export type { ListableEntity } from "../resources/list-resources.ts";
export { createTweetDetails, createTweetRecord } from "../resources/microblog-resources.ts";
export { createUserDetails, createUserSummary } from "../resources/microblog-resources.ts";
export { findUsername, readTweetFields, readUserFields } from "../resources/microblog-resources.ts";
export type { TweetFields, UserFields } from "../resources/microblog-resources.ts";
export { createChannelDetails, createChannelSummary } from "../resources/video-resources.ts";
export { createShortDetails, createShortSummary } from "../resources/video-resources.ts";
export { readChannelFields, readShortFields } from "../resources/video-resources.ts";
export type { ChannelFields, ShortFields } from "../resources/video-resources.ts";
