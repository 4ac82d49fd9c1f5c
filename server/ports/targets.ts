/** What collectors poll, and what a poll changes. Instants are milliseconds since 1970 UTC. */

/** The platform that a source observes. */
export type Platform = "video" | "microblog";

/**
 * What collectors poll: an entity's attributes and counts (`profile`), its list of shorts or tweets
 * (`items`), and the counts of known items (`counts`).
 */
export const TASK_NAMES = ["profile", "items", "counts"] as const;
export type TaskName = (typeof TASK_NAMES)[number];

/** Values that a source returned and needs in later requests for the same target. */
export type SourceState = Readonly<Record<string, string>>;

/** An entity to poll. */
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

/** What a poll changes of a target. Absent fields stay as they were. */
export interface TargetUpdate {
  readonly id: string;
  readonly dueAt: number;
  readonly sourceState?: SourceState;
  /** `items`: when the newest item was published. */
  readonly publishedAt?: number;
  /**
   * `profile`: the number of items. If it differs from the last one, the list of items becomes due
   * at once, unless the poll of that list fails at present.
   */
  readonly itemCount?: number;
  /** At most one of these two is present; neither if the poll was only postponed. */
  readonly succeededAt?: number;
  readonly failure?: { readonly at: number; readonly reason: string };
}

/** A short or a tweet that a source listed. */
export interface DiscoveredItem {
  readonly id: string;
  readonly publishedAt: number;
  readonly sourceState?: SourceState;
}

/** A listed item with the time of its first poll. */
export interface ScheduledItem extends DiscoveredItem {
  readonly dueAt: number;
}

/** A range of ages in milliseconds, `from` included, `to` excluded. */
export interface AgeRange {
  readonly from: number;
  readonly to: number;
}

/** Quota units to reserve for one day. */
export interface QuotaReservation {
  readonly source: string;
  readonly bucket: string;
  /** As `2026-11-20`. */
  readonly day: string;
  readonly units: number;
  /** The most units that may be used that day. */
  readonly limit: number;
}

/** Why and until when a source is not polled. */
export interface StoppedSource {
  readonly reason: string;
  readonly since: number;
  /** `null`: until the source's settings change. */
  readonly until: number | null;
}

/** Why a source fails, and since when. */
export interface FailingSource {
  /** The reason of the last failure. */
  readonly reason: string;
  /** The first failure after the last success. */
  readonly since: number;
}
