/**
 * Interfaces of collection: the monitoring list, tracked channels, the state that collectors keep
 * in the store, and how the sources are doing. Instants are milliseconds since 1970 UTC.
 */
import type {
  DueTarget,
  FailingSource,
  Platform,
  QuotaReservation,
  ScheduledItem,
  StoppedSource,
  TargetUpdate,
  TaskName,
  AgeRange,
} from "./targets.ts";
import type { CreatorStore } from "../../core/stores.ts";

/** The monitoring list. Between two of its pages other requests are served. */
export interface MonitoringListStore extends CreatorStore {
  /** Differs from an earlier value when creators were added, removed or observed since. */
  version(): Promise<string>;
}

/** When a creator or channel was observed and will be; instants are ISO 8601. */
export interface CollectionStatus {
  /** The last success of its profile or items. */
  readonly last_success: string | null;
  /** The last failure that no success followed. */
  readonly last_failure: string | null;
  /** Why it failed, for people. */
  readonly failure: string | null;
  /** `null` when nothing is planned yet. */
  readonly next_due: string | null;
}

/** A tracked channel, as administrators see it. */
export interface TrackedChannel extends CollectionStatus {
  /** A handle or an identifier, as it was given. */
  readonly channel: string;
  /** Its identifier, once it is known. */
  readonly channel_id: string | null;
  readonly added_at: string;
}

export interface TrackedChannelStore {
  /** @throws {DomainError} `Conflict` when it is tracked, in any case of its handle. */
  track(channel: string, now: number): Promise<void>;
  /**
   * Stops tracking; what was observed stays.
   *
   * @returns The channel as it was given when it was tracked.
   * @throws {DomainError} `Channel Not Found`.
   */
  untrack(channel: string): Promise<string>;
  /** All tracked channels, handles first. */
  list(): Promise<TrackedChannel[]>;
}

/** What collectors keep between two starts. */
export interface CollectionState {
  /**
   * Makes the targets follow the monitoring list and the tracked channels: adds `profile` and
   * `items` of new entries, due now, and removes all targets of removed ones. Due times that a
   * clock running ahead has set are moved back.
   */
  syncTargets(now: number): Promise<void>;
  /** Targets that are due, the longest overdue first. */
  listDue(platform: Platform, task: TaskName, now: number, limit: number): Promise<DueTarget[]>;
  /** When the next target is due; `undefined` when there is none. */
  readNextDue(platform: Platform): Promise<number | undefined>;
  countTargets(platform: Platform, task: TaskName): Promise<number>;
  /** Counts targets by age since publication; of each range, `from` is included and `to` is not. */
  countByAge(
    platform: Platform,
    task: TaskName,
    ranges: readonly AgeRange[],
    now: number,
  ): Promise<number[]>;
  /** Saves results; those of targets that were removed meanwhile are ignored. */
  saveResults(platform: Platform, task: TaskName, updates: readonly TargetUpdate[]): Promise<void>;
  /** Those of some items that are targets of `counts`, in any order. */
  listItemTargets(platform: Platform, ids: readonly string[]): Promise<DueTarget[]>;
  /** Adds items that are not yet targets of `counts`; none when the owner was removed. */
  addItems(platform: Platform, owner: string, items: readonly ScheduledItem[]): Promise<void>;
  /**
   * Counts units of a quota day before they are used, so that the count survives a crash.
   *
   * @returns Whether the day has them left; otherwise nothing is counted.
   */
  reserveUnits(reservation: QuotaReservation): Promise<boolean>;
  /** Used units of a quota day. */
  readUsedUnits(source: string, bucket: string, day: string): Promise<number>;
  /** @param settings A hash of the settings with which the source stopped. */
  saveStop(source: string, settings: string, stopped: StoppedSource): Promise<void>;
  /** The stop of a source; `undefined` when its settings were others. */
  readStop(source: string, settings: string): Promise<StoppedSource | undefined>;
  clearStop(source: string): Promise<void>;
}

/** A change of a source. The reasons never hold a credential. */
export type SourceEvent =
  | {
      readonly kind: "stopped";
      readonly source: string;
      readonly reason: string;
      /** `null`: until its settings change. */
      readonly until: number | null;
    }
  | {
      readonly kind: "paused" | "failed" | "retried";
      readonly source: string;
      readonly reason: string;
    }
  | { readonly kind: "resumed"; readonly source: string };

/** Counts of the work for a source. */
export interface SourceCounters {
  readonly requests: number;
  /** Observations that the source gave. */
  readonly observations: number;
  /** Targets that were observed. */
  readonly observed: number;
  /** Targets that could not be observed. */
  readonly failed: number;
}

/** How a source is doing. */
export interface SourceStatus {
  readonly source: string;
  /** Since the process started. */
  readonly work: SourceCounters;
  /** `undefined` while it is asked. */
  readonly stopped: StoppedSource | undefined;
  /** Since the process started; `undefined` while it answers. */
  readonly failing: FailingSource | undefined;
  /** The last failed task since the process started. */
  readonly lastFailure: { readonly reason: string; readonly at: number } | undefined;
  /** Units of the quota day that are used, and that may be used. */
  readonly buckets: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
    readonly pausedUntil: number | undefined;
  }[];
}
