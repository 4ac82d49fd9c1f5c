/** The reads behind the HTTP endpoints. */
import type { MicroblogStore, VideoStore } from "../../../core/stores.ts";
import type { CacheMetadata } from "../history/cache-metadata.ts";

/** A read of a page that may take long; the signal ends it once nobody waits for it. */
type AbortableRead<Read extends (request: never) => unknown> = (
  request: Parameters<Read>[0],
  signal?: AbortSignal,
) => ReturnType<Read>;

/** Reads behind `/api/video`. */
export interface VideoReads extends VideoStore<CacheMetadata> {
  readonly channelPage: AbortableRead<VideoStore<CacheMetadata>["channelPage"]>;
}

/** Reads behind `/api/microblog`. */
export interface MicroblogReads extends MicroblogStore<CacheMetadata> {
  readonly userPage: AbortableRead<MicroblogStore<CacheMetadata>["userPage"]>;
}
