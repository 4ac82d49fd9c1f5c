/** What is observed again and again: the terms that the collectors and what they keep share. */

/** What is observed of a source: channels and their shorts, or users and their tweets. */
export type Platform = "video" | "microblog";

/**
 * What a source is asked: what describes an entity and its counts (`profile`), which shorts or
 * tweets it has (`items`), and the counts of items that are known (`counts`).
 */
export const TASK_NAMES = ["profile", "items", "counts"] as const;

/** What a source is asked. */
export type TaskName = (typeof TASK_NAMES)[number];

/** What a source told of an entity that it has to be asked with later, by the source's names. */
export type SourceState = Readonly<Record<string, string>>;

/** An entity that a source is asked about. */
export interface CollectionTarget {
  /**
   * Of `profile` and `items`: a channel as it is tracked (`@handle` or an identifier), or a user's
   * username in lower case. Of `counts`: the identifier of a short or a tweet.
   */
  readonly id: string;
  /** What the source told of it before; empty at first. */
  readonly sourceState: SourceState;
  /** Of `counts`: the channel or user whose item it is, as the target of `items` is named. */
  readonly owner: string | null;
}

/** A target that is due. All instants are milliseconds since 1970 UTC. */
export interface DueTarget extends CollectionTarget {
  /** When it was due. */
  readonly dueAt: number;
  /** When it was last observed; `null` before the first time. */
  readonly succeededAt: number | null;
  /** When the item was published; of `items`, the newest that is known. */
  readonly publishedAt: number | null;
  /** Failures since the last success. */
  readonly failures: number;
}

/** What became of a target. */
export interface TargetUpdate {
  readonly id: string;
  readonly dueAt: number;
  /** What is left out stays as it was. */
  readonly sourceState?: SourceState;
  /** Of `items`: when the newest of them was published. What is left out stays as it was. */
  readonly publishedAt?: number;
  /**
   * Of `profile`: how many items there are. Where it is another number than before, the list of
   * items becomes due at once, unless it fails.
   */
  readonly itemCount?: number;
  /** One of the two is given at most; none where it only became due at another time. */
  readonly succeededAt?: number;
  readonly failure?: { readonly at: number; readonly reason: string };
}

/** A short or a tweet that a source told of. */
export interface DiscoveredItem {
  readonly id: string;
  /** Milliseconds since 1970 UTC. */
  readonly publishedAt: number;
  readonly sourceState?: SourceState;
}

/** An item that is to be observed. */
export interface ScheduledItem extends DiscoveredItem {
  /** Milliseconds since 1970 UTC. */
  readonly dueAt: number;
}

/** Units of a quota day that are to be used. */
export interface QuotaReservation {
  readonly source: string;
  readonly bucket: string;
  /** As `2026-11-20`. */
  readonly day: string;
  readonly units: number;
  /** The units of the day that may be used. */
  readonly limit: number;
}

/** A source that is stopped. Instants are milliseconds since 1970 UTC. */
export interface StoppedSource {
  readonly reason: string;
  readonly since: number;
  /** `null`: until its settings change. */
  readonly until: number | null;
}

/** A source that could not be asked, or told nothing of all that it was asked for. */
export interface FailingSource {
  /** Why it failed the last time. */
  readonly reason: string;
  /** When it failed for the first time after its last answer, in milliseconds since 1970 UTC. */
  readonly since: number;
}
