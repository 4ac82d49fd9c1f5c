/** What collecting keeps between two starts; the store implements it. */
import type {
  ScheduledItem,
  DueTarget,
  TaskName,
  Platform,
  QuotaReservation,
  TargetUpdate,
  StoppedSource,
} from "../../core/collection.ts";
import type { AgeRange } from "../../core/schedule.ts";
import type { Source } from "./collector.ts";

/** What collecting keeps. */
export interface CollectionState {
  /**
   * Makes the targets follow the monitoring list and the tracked channels: adds the `profile` and
   * `items` of who is new, due now, and removes all that belongs to who is no longer there. Where
   * the clock was ahead and was set right, what it made due is due earlier.
   */
  syncTargets(now: number): Promise<void>;
  /** Targets that are due, the one that waits longest first. */
  listDue(platform: Platform, errand: TaskName, now: number, limit: number): Promise<DueTarget[]>;
  /** The instant at which something is due next; `undefined` where nothing is. */
  readNextDue(platform: Platform): Promise<number | undefined>;
  /** How many targets of an errand there are. */
  countTargets(platform: Platform, errand: TaskName): Promise<number>;
  /**
   * How many targets are in each span of ages, by when they were published; ages are milliseconds,
   * `from` included, `to` excluded.
   */
  countByAge(
    platform: Platform,
    errand: TaskName,
    spans: readonly AgeRange[],
    now: number,
  ): Promise<number[]>;
  /** Notes what became of targets; of one that was removed meanwhile, nothing. */
  saveResults(
    platform: Platform,
    errand: TaskName,
    settled: readonly TargetUpdate[],
  ): Promise<void>;
  /** Those of some items that are targets of `counts`, in any order. */
  listItemTargets(platform: Platform, ids: readonly string[]): Promise<DueTarget[]>;
  /** Adds items that are not targets of `counts` yet; of an owner that was removed, none. */
  addItems(platform: Platform, owner: string, items: readonly ScheduledItem[]): Promise<void>;
  /**
   * Counts units of a quota day before they are used; the count survives the death of the process.
   *
   * @returns Whether they were there; else nothing is counted.
   */
  reserveUnits(use: QuotaReservation): Promise<boolean>;
  /** Units that are used of a quota day. */
  readUsedUnits(source: Source, bucket: string, day: string): Promise<number>;
  /** Notes that a source is stopped. @param settings A hash of the settings that it was asked with. */
  saveStop(source: Source, settings: string, stopped: StoppedSource): Promise<void>;
  /** The stop of a source, unless it was asked with other settings then. */
  readStop(source: Source, settings: string): Promise<StoppedSource | undefined>;
  /** Forgets the stop of a source. */
  clearStop(source: Source): Promise<void>;
}
