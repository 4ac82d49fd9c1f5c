/** What collecting keeps between two starts; the store implements it. */
import type {
  AddedItem,
  DueTarget,
  Errand,
  ObservedPlatform,
  QuotaUse,
  SettledTarget,
  StoppedSource,
} from "../../core/collection.ts";
import type { AgeSpan } from "../../core/schedule.ts";
import type { Source } from "./port.ts";

/** What collecting keeps. */
export interface CollectionState {
  /**
   * Makes the targets follow the monitoring list and the tracked channels: adds the `profile` and
   * `items` of who is new, due now, and removes all that belongs to who is no longer there. Where
   * the clock was ahead and was set right, what it made due is due earlier.
   */
  followLists(now: number): Promise<void>;
  /** Targets that are due, the one that waits longest first. */
  due(platform: ObservedPlatform, errand: Errand, now: number, limit: number): Promise<DueTarget[]>;
  /** The instant at which something is due next; `undefined` where nothing is. */
  nextDue(platform: ObservedPlatform): Promise<number | undefined>;
  /** How many targets of an errand there are. */
  countTargets(platform: ObservedPlatform, errand: Errand): Promise<number>;
  /**
   * How many targets are in each span of ages, by when they were published; ages are milliseconds,
   * `from` included, `to` excluded.
   */
  countByAge(
    platform: ObservedPlatform,
    errand: Errand,
    spans: readonly AgeSpan[],
    now: number,
  ): Promise<number[]>;
  /** Notes what became of targets; of one that was removed meanwhile, nothing. */
  settle(
    platform: ObservedPlatform,
    errand: Errand,
    settled: readonly SettledTarget[],
  ): Promise<void>;
  /** Those of some items that are targets of `counts`, in any order. */
  knownItems(platform: ObservedPlatform, ids: readonly string[]): Promise<DueTarget[]>;
  /** Adds items that are not targets of `counts` yet; of an owner that was removed, none. */
  addItems(platform: ObservedPlatform, owner: string, items: readonly AddedItem[]): Promise<void>;
  /**
   * Counts units of a quota day before they are used; the count survives the death of the process.
   *
   * @returns Whether they were there; else nothing is counted.
   */
  takeUnits(use: QuotaUse): Promise<boolean>;
  /** Units that are used of a quota day. */
  usedUnits(source: Source, bucket: string, day: string): Promise<number>;
  /** Notes that a source is stopped. @param settings A hash of the settings that it was asked with. */
  stop(source: Source, settings: string, stopped: StoppedSource): Promise<void>;
  /** The stop of a source, unless it was asked with other settings then. */
  stopped(source: Source, settings: string): Promise<StoppedSource | undefined>;
  /** Forgets the stop of a source. */
  goOn(source: Source): Promise<void>;
}
