/** Interfaces of the reads behind the HTTP endpoints, and of exporting observations. */
import type { EntityKind } from "../../core/entity-kinds.ts";
import type { MicroblogStore, VideoStore } from "../../core/stores.ts";
import type { CacheMetadata } from "./caching.ts";

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

/** Which observations are exported: all, where all are left out. */
export interface ExportOptions {
  readonly kind?: EntityKind | undefined;
  /** The identifiers of entities; of users, the usernames in any case. */
  readonly ids?: readonly string[] | undefined;
  /** Milliseconds since 1970 UTC, included. */
  readonly since?: number | undefined;
}
