/** Metadata for the response cache: the validity of the result of a read, and the changes since. */
import type { TimeRange } from "../../../core/growth.ts";

/** The result of a read, and how long a cache may serve it. */
export interface CacheableResult<Body = unknown> {
  readonly body: Body;
  /** The result is stale once something with one of these tags changes. The store makes the tags. */
  readonly tags: readonly string[];
  /** The instants at which the result is valid, both ends included; by default all. */
  readonly validDuring?: TimeRange;
  /** When the entity that the body is about was last observed; a response header tells clients. */
  readonly observedAt?: number | null;
  /** Whether a history in the body leaves observations out; a response header tells clients. */
  readonly isThinned?: boolean;
}

/** The changes since a reader's last known change. */
export interface ChangeSet {
  /** The number of the last change; changes are numbered in order. */
  readonly sequence: number;
  /** The tags of the changes; `undefined` if unknown, so that anything may have changed. */
  readonly tags: readonly string[] | undefined;
}
