/** The targets of collectors, and the changes by a poll. Instants are in ms since 1970 UTC. */

export type Platform = "video" | "microblog";

/**
 * The tasks of collectors: an entity's attributes and counts (`profile`), its list of shorts or
 * tweets (`items`), and the counts of known items (`counts`).
 */
export const TASK_NAMES = ["profile", "items", "counts"] as const;
export type TaskName = (typeof TASK_NAMES)[number];

/** Values that a source returned and needs in later requests for the same target. */
export type SourceState = Readonly<Record<string, string>>;

export interface CollectionTarget {
  /**
   * `profile` and `items`: a tracked channel (`@handle` or identifier), or a username in lower
   * case. `counts`: the identifier of a short or a tweet.
   */
  readonly id: string;
  /** Empty before the first poll. */
  readonly sourceState: SourceState;
  /** `counts`: the `id` of the `items` target that lists the item; else `null`. */
  readonly owner: string | null;
}

export interface DueTarget extends CollectionTarget {
  readonly dueAt: number;
  /** The last successful poll; `null` before the first. */
  readonly succeededAt: number | null;
  /** When the item was published; for `items`, the newest known item. */
  readonly publishedAt: number | null;
  /** Failures since the last success. */
  readonly failures: number;
}

/** A short or a tweet that a source listed. */
export interface DiscoveredItem {
  readonly id: string;
  readonly publishedAt: number;
  readonly sourceState?: SourceState;
}
