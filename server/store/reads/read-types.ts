/** The reads behind the HTTP endpoints. */
import type { MicroblogStore, StoreRead, VideoStore } from "../../../core/stores.ts";
import type { CacheMetadata } from "../history/cache-metadata.ts";

/** The reads of a store, with the metadata of each for the response cache. */
type Cacheable<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (
    ...request: infer Request
  ) => StoreRead<infer Body>
    ? (...request: Request) => Promise<{ readonly body: Body } & CacheMetadata>
    : Store[Name];
};

/** A read of a page that may take long; the signal ends it once nobody waits for it. */
type AbortableRead<Read extends (request: never) => unknown> = (
  request: Parameters<Read>[0],
  signal?: AbortSignal,
) => ReturnType<Read>;

/** Reads behind `/api/video`. */
export interface VideoReads extends Cacheable<VideoStore> {
  readonly channelPage: AbortableRead<Cacheable<VideoStore>["channelPage"]>;
}

/** Reads behind `/api/microblog`. */
export interface MicroblogReads extends Cacheable<MicroblogStore> {
  readonly userPage: AbortableRead<Cacheable<MicroblogStore>["userPage"]>;
}
