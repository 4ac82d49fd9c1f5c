/** What the response cache needs to know: what a result depends on, and what changed. */
import type { TimeRange } from "../../core/growth.ts";

/** The result of a read, and how long a cache may serve it. */
export interface CacheableResult<Body = unknown> {
  readonly body: Body;
  /** The result is stale once an entity with one of these tags changes. The store makes the tags. */
  readonly tags: readonly string[];
  /** The instants at which the result is valid, both ends included; by default all. */
  readonly validDuring?: TimeRange;
  /** Whether a history in the body leaves observations out. */
  readonly isThinned?: boolean;
}

/** The changes since a reader's last known change. */
export interface ChangeSet {
  /** The number of the last change; changes are numbered in order. */
  readonly sequence: number;
  /** The tags of what changed; `undefined` if unknown, so that anything may have changed. */
  readonly tags: readonly string[] | undefined;
}
