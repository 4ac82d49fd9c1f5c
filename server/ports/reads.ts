/** Interfaces of the reads behind the HTTP endpoints, and of importing and exporting observations. */
import type { ShortsRequest } from "../../core/cursor.ts";
import type { ComparisonRequest } from "../../core/batch.ts";
import type { EntityKind } from "../../core/entity-kinds.ts";
import type { DomainError } from "../../core/errors.ts";
import type { HistoryRequest } from "../../core/history-request.ts";
import type { ChannelSort, ListRequest, UserSort } from "../../core/lists.ts";
import type { PageRequest } from "../../core/pagination.ts";
import type { CacheableResult } from "./caching.ts";
import type {
  ChannelComparison,
  ChannelDetails,
  ChannelHistory,
  ChannelList,
  ChannelSummary,
  FollowersPage,
  ShortDetails,
  ShortHistory,
  ShortsPage,
  TweetDetails,
  TweetHistory,
  TweetsPage,
  UserDetails,
  UserHistory,
  UserList,
} from "../../core/resources/mod.ts";

/** What was found, or the error of a read that finds nothing. */
export type Found<Value> = Value | DomainError;

/** A count of several entities by bucket. */
export interface Comparison extends Pick<ChannelComparison, "rows" | "pagination"> {
  /** How each entity is called, in the order of the request. */
  readonly entities: readonly Found<string>[];
}

/** Reads behind `/api/video`. */
export interface VideoReads {
  channelPage(request: ListRequest<ChannelSort>): Promise<CacheableResult<ChannelList>>;
  channels(): Promise<CacheableResult<{ channels: ChannelSummary[] }>>;
  channel(name: string): Promise<CacheableResult<ChannelDetails>>;
  /** Reads the channels of many names, in their order; of one that is not found, the error. */
  channelBatch(names: readonly string[]): Promise<readonly Found<ChannelDetails>[]>;
  /** Compares a count of several channels; of one that is not found, the error. */
  channelComparison(request: ComparisonRequest<"channel">): Promise<CacheableResult<Comparison>>;
  shorts(name: string, request: ShortsRequest): Promise<CacheableResult<ShortsPage>>;
  short(name: string, id: string): Promise<CacheableResult<ShortDetails>>;
  channelHistory(name: string, request: HistoryRequest): Promise<CacheableResult<ChannelHistory>>;
  shortHistory(
    name: string,
    id: string,
    request: HistoryRequest,
  ): Promise<CacheableResult<ShortHistory>>;
}

/** Reads behind `/api/microblog`; `now` is milliseconds since 1970 UTC. */
export interface MicroblogReads {
  userPage(request: ListRequest<UserSort>): Promise<CacheableResult<UserList>>;
  user(username: string): Promise<CacheableResult<UserDetails>>;
  /** Reads the users of many usernames, in their order; of one that is not found, the error. */
  userBatch(usernames: readonly string[]): Promise<readonly Found<UserDetails>[]>;
  /** Compares a count of several users; of one that is not found, the error. */
  userComparison(request: ComparisonRequest<"user">): Promise<CacheableResult<Comparison>>;
  tweets(username: string, request: PageRequest, now: number): Promise<CacheableResult<TweetsPage>>;
  followers(
    username: string,
    request: PageRequest,
    now: number,
  ): Promise<CacheableResult<FollowersPage>>;
  tweet(username: string, id: string): Promise<CacheableResult<TweetDetails>>;
  userHistory(username: string, request: HistoryRequest): Promise<CacheableResult<UserHistory>>;
  tweetHistory(
    username: string,
    id: string,
    request: HistoryRequest,
  ): Promise<CacheableResult<TweetHistory>>;
}

/** A line that was rejected, by its number from 1, and why. */
export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

/** How many observations were new, changed an earlier one, or changed nothing. */
export interface OutcomeCounts {
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** What became of the lines of an import; blank lines are not counted. */
export interface ImportResult extends OutcomeCounts {
  readonly read: number;
  readonly rejected: readonly RejectedLine[];
}

/** Imports whole lines of observations (NDJSON). It takes the bytes over: don't use them again. */
export type ImportObservations = (lines: Uint8Array) => Promise<ImportResult>;

/** Which observations are exported: all, where all are left out. */
export interface ExportOptions {
  readonly kind?: EntityKind | undefined;
  /** The identifiers of entities; of users, the usernames in any case. */
  readonly ids?: readonly string[] | undefined;
  /** Milliseconds since 1970 UTC, included. */
  readonly since?: number | undefined;
}
