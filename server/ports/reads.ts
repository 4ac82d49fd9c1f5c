/** Interfaces of the reads behind the HTTP endpoints, and of exporting observations. */
import type { EntityKind } from "../../core/entity-kinds.ts";
import type { MicroblogStore, VideoStore } from "../../core/stores.ts";
import type { CacheMetadata } from "./caching.ts";

/** Reads behind `/api/video`. */
export type VideoReads = VideoStore<CacheMetadata>;

/** Reads behind `/api/microblog`. */
export type MicroblogReads = MicroblogStore<CacheMetadata>;

/** Which observations are exported: all, where all are left out. */
export interface ExportOptions {
  readonly kind?: EntityKind | undefined;
  /** The identifiers of entities; of users, the usernames in any case. */
  readonly ids?: readonly string[] | undefined;
  /** Milliseconds since 1970 UTC, included. */
  readonly since?: number | undefined;
}
