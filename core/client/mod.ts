/**
 * A typed client of the service, for any runtime with `fetch`. A retried read is charged once.
 *
 * @module @creator-metrics/core/client
 */
export { createClient, type Client } from "./client.ts";
export type { MicroblogClient, VideoClient } from "./client-reads.ts";
export type { ErrorCode } from "../errors.ts";
export {
  AbortError,
  ConnectionError,
  MetricsError,
  RequestError,
  TimeoutError,
  type MetricsErrorCode,
  type MetricsErrorDetails,
} from "./errors.ts";
export type { ListsClient } from "./lists.ts";
export type { Listing } from "./listing.ts";
export type {
  ChannelListQuery,
  FieldName,
  HistoryMethod,
  HistoryQuery,
  ItemComparisonQuery,
  ItemListQuery,
  ListMethod,
  ListQuery,
  NamesOrList,
  OwnerClient,
  PageQuery,
  ReadMethod,
  RequestQuery,
  ShortsQuery,
  UserListQuery,
} from "./methods.ts";
export type { ClientOptions, RequestOptions } from "./options.ts";
export type { Result } from "./attempt.ts";
export type {
  AbortSignalLike,
  FetchLike,
  HeadersLike,
  RequestInitLike,
  ResponseLike,
} from "./runtime.ts";
