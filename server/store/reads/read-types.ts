/** Types of the reads behind the HTTP endpoints, and of the metadata for the response cache. */
import type { TimeRange } from "../../../core/growth.ts";
import type { ListRequest, TableRequest } from "../../../core/lists.ts";
import type { SortName } from "../../../core/list-sorts.ts";
import type * as resources from "../../../core/resources/generated/types.ts";
import type { MicroblogStore, StoreRead, VideoStore } from "../../../core/stores.ts";

/** The result of a read, and how long a cache may serve it. */
export interface CacheableResult<Body = unknown> {
  readonly body: Body;
  /** The result is stale once data with such a tag changes. The store makes the tags. */
  readonly tags: readonly string[];
  /** The instants at which the result is valid, both ends included; by default all. */
  readonly validDuring?: TimeRange;
  /** When the entity that the body is about was last observed; a response header tells clients. */
  readonly observedAt?: number | null;
  /** Whether a history in the body leaves observations out; a response header tells clients. */
  readonly isThinned?: boolean;
}

/** The reads of a store, with the metadata of each for the response cache. */
type Cacheable<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (
    ...request: infer Request
  ) => StoreRead<infer Body>
    ? (...request: Request) => Promise<CacheableResult<Body>>
    : Store[Name];
};

/** Reads a page of a list, which may take long; the signal ends a read for which nobody waits. */
type ListRead<Request extends ListRequest, List> = (
  request: Request,
  signal?: AbortSignal,
) => Promise<CacheableResult<List>>;

export interface VideoReads extends Cacheable<VideoStore> {
  readonly channelPage: ListRead<ListRequest<SortName<"channel">>, resources.ChannelList>;
  readonly channelTable: ListRead<TableRequest<SortName<"channel">>, resources.ChannelTable>;
  readonly shortTable: ListRead<TableRequest<SortName<"short">>, resources.ShortTable>;
}

export interface MicroblogReads extends Cacheable<MicroblogStore> {
  readonly userPage: ListRead<ListRequest<SortName<"user">>, resources.UserList>;
  readonly userTable: ListRead<TableRequest<SortName<"user">>, resources.UserTable>;
  readonly tweetTable: ListRead<TableRequest<SortName<"tweet">>, resources.TweetTable>;
}
