/** What becomes of a target that a source was asked about: when it is due next, and why it failed. */
import type { DueTarget, Errand, SettledTarget } from "../../core/collection.ts";
import {
  chanceOf,
  dueAfterFailure,
  itemEveryMs,
  itemGoneEveryMs,
  listEveryMs,
  nextDue,
  PROFILE_EVERY_MS,
} from "../../core/schedule.ts";
import { DAY_MS } from "../../core/time.ts";
import {
  reasonOf,
  type Collector,
  type Finding,
  type SourceFailure,
  type Surroundings,
} from "./port.ts";

/** What targets are settled with. */
export interface SettleParts {
  readonly collector: Collector;
  readonly surroundings: Surroundings;
  /** By how much the intervals of an errand are stretched so that the quota reaches. */
  stretchOf(errand: Errand): number;
}

/** What was told of a target so far. */
export interface Outcome {
  memo?: Finding["memo"];
  failure?: string;
  isGone: boolean;
  /** When the newest item of its list was published. */
  newestAt?: number;
  /** How many items it has. */
  itemCount?: number;
}

/** What becomes of a target; nothing where the source could not be asked about it at all. */
export function settle(
  { collector, surroundings, stretchOf }: SettleParts,
  errand: Errand,
  target: DueTarget,
  told: Outcome | undefined,
  failure: SourceFailure | undefined,
): SettledTarget[] {
  if (told === undefined && isOver(failure)) {
    const { until, bucket } = failure;
    const isOther = bucket !== collector.errands[errand].bucket;
    // What it needs besides is waited for by it alone: the others of the errand may not need that.
    return failure.kind === "wait" && until !== undefined && isOther
      ? [{ id: target.id, dueAt: until }]
      : [];
  }
  const now = surroundings.now();
  const chance = chanceOf(`${target.id} ${now}`);
  const newestAt = Math.max(told?.newestAt ?? -Infinity, target.publishedAt ?? -Infinity);
  const everyMs = intervalOf(errand, now - newestAt) * stretchOf(errand);
  const reason = told?.failure ?? unsaid(errand, told, failure);
  const kept = {
    ...(told?.memo === undefined ? {} : { memo: told.memo }),
    ...(told?.newestAt === undefined ? {} : { publishedAt: newestAt }),
    ...(told?.itemCount === undefined ? {} : { itemCount: told.itemCount }),
  };
  if (reason === undefined) {
    const isFirst = target.succeededAt === null;
    const dueAt = nextDue({ now, everyMs, isFirst, chance });
    return [{ id: target.id, dueAt, succeededAt: now, ...kept }];
  }
  const failures = target.failures + 1;
  const dueAt =
    told?.isGone === true
      ? nextDue({ now, everyMs: goneEveryMs(errand, failures), isFirst: false, chance })
      : dueAfterFailure({ now, everyMs, failures, chance });
  return [{ id: target.id, dueAt, failed: { at: now, reason: reasonOf(reason) }, ...kept }];
}

/** Whether nothing more is asked of a source, now or for good. */
function isOver(failure: SourceFailure | undefined): failure is SourceFailure {
  return failure?.kind === "wait" || failure?.kind === "stop";
}

/** Who is watched is asked for every day; an item is more and more seldom. */
function goneEveryMs(errand: Errand, failures: number): number {
  return errand === "counts" ? itemGoneEveryMs(failures) : DAY_MS;
}

/** Why a target failed of which the source told nothing; a list may well have nothing new. */
function unsaid(
  errand: Errand,
  told: Outcome | undefined,
  failure: SourceFailure | undefined,
): string | undefined {
  if (told !== undefined) return undefined;
  if (failure !== undefined) return failure.message;
  return errand === "items" ? undefined : "The source told nothing of it";
}

/** @param ageMs Milliseconds since the item, or the newest of a list, was published. */
function intervalOf(errand: Errand, ageMs: number): number {
  if (errand === "profile") return PROFILE_EVERY_MS;
  return errand === "items" ? listEveryMs(ageMs) : itemEveryMs(ageMs);
}

/**
 * When an item that was found is due for the first time.
 *
 * @param stretch By how much the intervals of items are stretched.
 */
export function firstDue(
  { id, publishedAt }: { readonly id: string; readonly publishedAt: number },
  now: number,
  stretch: number,
): number {
  const everyMs = itemEveryMs(now - publishedAt) * stretch;
  return nextDue({ now, everyMs, isFirst: true, chance: chanceOf(id) });
}
