/** The reads behind the HTTP endpoints. */
import type { ListRequest, SortName } from "../../../core/lists.ts";
import type { ChannelList, UserList } from "../../../core/resources/generated/types.ts";
import type { MicroblogStore, StoreRead, VideoStore } from "../../../core/stores.ts";
import type { CacheableResult } from "../history/cache-metadata.ts";

/** The reads of a store, with the metadata of each for the response cache. */
type Cacheable<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (
    ...request: infer Request
  ) => StoreRead<infer Body>
    ? (...request: Request) => Promise<CacheableResult<Body>>
    : Store[Name];
};

/** Reads a page of a list, which may take long; the signal ends a read for which nobody waits. */
type ListRead<Sort extends string, List> = (
  request: ListRequest<Sort>,
  signal?: AbortSignal,
) => Promise<CacheableResult<List>>;

/** Reads behind `/api/video`. */
export interface VideoReads extends Cacheable<VideoStore> {
  readonly channelPage: ListRead<SortName<"channel">, ChannelList>;
}

/** Reads behind `/api/microblog`. */
export interface MicroblogReads extends Cacheable<MicroblogStore> {
  readonly userPage: ListRead<SortName<"user">, UserList>;
}
