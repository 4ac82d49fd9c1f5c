/** Reads: what one gives, what it depends on, and how it is told that this has changed. */
import type { TimeRange } from "./growth.ts";

/** What a read gives, and for how long it holds. */
export interface CacheableResult<Body = unknown> {
  readonly body: Body;
  /** It holds until one of these is observed again: entities, by names of the store's own. */
  readonly tags: readonly string[];
  /** The instants between which the clock alone leaves it as it is, both included. */
  readonly validDuring?: TimeRange;
  /** Whether observations were left out of a history. */
  readonly isThinned?: boolean;
}

/** What was observed, as far as someone did not know of it. */
export interface ChangeSet {
  /** The last change; changes are counted. */
  readonly sequence: number;
  /** What changed since the one that they knew of; `undefined` where that cannot be told. */
  readonly tags: readonly string[] | undefined;
}
