/** One errand: a source is asked about some targets, what it tells is stored, and they are settled. */
import type { DueTarget, Errand, FoundItem, SettledTarget } from "../../core/collection.ts";
import type { Kind, KINDS } from "../../core/kinds.ts";
import {
  chanceOf,
  dueAfterFailure,
  itemEveryMs,
  itemGoneEveryMs,
  listEveryMs,
  LOOK_AHEAD_MS,
  nextDue,
  PROFILE_EVERY_MS,
} from "../../core/schedule.ts";
import { DAY_MS } from "../../core/time.ts";
import {
  reasonOf,
  SourceFailure,
  type Collector,
  type Finding,
  type ObservationRecord,
  type Surroundings,
} from "./port.ts";
import type { CollectionState } from "./state.ts";

/** Takes in lines of observations, as an import does; their bytes may be taken over. */
export type TakeIn = (
  lines: Uint8Array,
) => Promise<{ readonly rejected: readonly { readonly line: number; readonly reason: string }[] }>;

/** What an errand is run with. */
export interface ErrandParts {
  readonly collector: Collector;
  readonly surroundings: Surroundings;
  readonly state: CollectionState;
  readonly takeIn: TakeIn;
  /** By how much the intervals of an errand are stretched so that the quota reaches. */
  stretchOf(errand: Errand): number;
}

/** What became of an errand. */
export interface ErrandResult {
  readonly observed: number;
  readonly failed: number;
  readonly observations: number;
  /** Why the source could not be asked any further. */
  readonly failure: SourceFailure | undefined;
  /** Why one of the targets failed that is not said to be gone, where there is one. */
  readonly doubt: string | undefined;
}

/** Observations that are stored together at most. */
const STORED_TOGETHER = 500;

/** What was told of a target so far. */
interface Outcome {
  memo?: Finding["memo"];
  failure?: string;
  isGone: boolean;
  /** When the newest item of its list was published. */
  newestAt?: number;
  /** How many items it has. */
  itemCount?: number;
}

/** Runs an errand for some targets that are due. */
export async function runErrand(
  parts: ErrandParts,
  errand: Errand,
  targets: readonly DueTarget[],
): Promise<ErrandResult> {
  const { collector, surroundings } = parts;
  const told = new Map<string, Outcome>();
  let observations = 0;
  let waiting: Finding[] = [];
  const store = async () => {
    const findings = waiting;
    waiting = [];
    const isListing = errand === "items";
    observations += await storeFindings(parts, findings, told, isListing);
  };
  let failure: SourceFailure | undefined;
  try {
    for await (const finding of collector.errands[errand].observe(targets, surroundings)) {
      waiting.push(finding);
      if (waiting.length >= STORED_TOGETHER) await store();
    }
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error;
    failure = error;
  }
  await store();
  // Of a list that was cut off it is not known what is missing.
  if (failure !== undefined && errand === "items") {
    for (const [id, { failure: own }] of told) if (own === undefined) told.delete(id);
  }
  const settled = targets.flatMap((target) =>
    settle(parts, errand, target, told.get(target.id), failure),
  );
  await parts.state.settle(collector.platform, errand, settled);
  const observed = settled.filter((one) => one.succeededAt !== undefined).length;
  const failed = settled.filter((one) => one.failed !== undefined).length;
  const doubts = [...told.values()].filter(({ isGone }) => !isGone);
  const doubt = doubts.find((one) => one.failure !== undefined)?.failure;
  return { observed, failed, observations, failure, doubt };
}

/** Stores what was found: first the observations, then what to ask for from now on. */
async function storeFindings(
  parts: ErrandParts,
  findings: readonly Finding[],
  told: Map<string, Outcome>,
  isListing: boolean,
): Promise<number> {
  const { collector, surroundings, state, takeIn, stretchOf } = parts;
  const listed = isListing ? await knownAmong(parts, findings) : new Map<unknown, DueTarget>();
  const until = surroundings.now() + LOOK_AHEAD_MS;
  const alongside: DueTarget[] = [];
  const lines: string[] = [];
  const targetOf: string[] = [];
  for (const { target, memo, failure, isGone = false, observations = [] } of findings) {
    const known: Outcome = told.get(target) ?? { isGone: false };
    if (memo !== undefined) known.memo = memo;
    if (failure !== undefined) known.failure = failure;
    known.isGone ||= isGone;
    told.set(target, known);
    for (const observation of observations) {
      const item = listed.get(observation["id"]);
      // What is listed again and again is observed only when it is due, or was thought to be gone.
      if (item !== undefined && item.failures === 0 && item.dueAt > until) continue;
      if (item !== undefined) alongside.push(item);
      noteItemCount(known, observation);
      lines.push(JSON.stringify(observation));
      targetOf.push(target);
    }
  }
  if (lines.length > 0) {
    const { rejected } = await takeIn(new TextEncoder().encode(lines.join("\n")));
    for (const { line, reason } of rejected) {
      const known = told.get(targetOf[line - 1] ?? "");
      if (known !== undefined) known.failure = reason;
    }
  }
  const now = surroundings.now();
  const settled = alongside.flatMap((item) =>
    settle(parts, "counts", item, { isGone: false }, undefined),
  );
  for (const { target, items = [] } of findings) {
    if (items.length === 0) continue;
    noteNewest(told.get(target), items);
    const stretch = stretchOf("counts");
    const due = items.map((item) => Object.assign({ dueAt: firstDue(item, now, stretch) }, item));
    await state.addItems(collector.platform, target, due);
    // What was thought to be gone and is listed without its counts is asked for them at once.
    const isBack = ({ id }: FoundItem) => {
      const item = listed.get(id);
      const isLate = item !== undefined && item.failures > 0 && item.dueAt > now;
      return isLate && !alongside.includes(item);
    };
    settled.push(...items.filter(isBack).map(({ id }) => ({ id, dueAt: now })));
  }
  if (settled.length > 0) await state.settle(collector.platform, "counts", settled);
  return lines.length;
}

/** The items among what was found that are targets already, by their identifiers. */
async function knownAmong(
  { collector, state }: ErrandParts,
  findings: readonly Finding[],
): Promise<ReadonlyMap<unknown, DueTarget>> {
  const ids = new Set(
    findings.flatMap(({ observations = [], items = [] }) => [
      ...observations.map((of) => String(of["id"])),
      ...items.map(({ id }) => id),
    ]),
  );
  if (ids.size === 0) return new Map();
  const known = await state.knownItems(collector.platform, Array.from(ids));
  return new Map(known.map((item) => [item.id, item]));
}

function noteItemCount(told: Outcome, observation: ObservationRecord): void {
  const count = observation[ITEM_COUNTS[observation.kind] ?? ""];
  if (typeof count === "number") told.itemCount = count;
}

/** The count of an observation that says how many items its entity has. */
const ITEM_COUNTS: { readonly [Of in Kind]?: (typeof KINDS)[Of]["counts"][number] } = {
  channel: "videoCount",
  user: "tweet_count",
};

function noteNewest(told: Outcome | undefined, items: readonly FoundItem[]): void {
  if (told === undefined) return;
  for (const { publishedAt } of items) {
    told.newestAt = Math.max(publishedAt, told.newestAt ?? publishedAt);
  }
}

function firstDue(
  { id, publishedAt }: { readonly id: string; readonly publishedAt: number },
  now: number,
  stretch: number,
): number {
  const everyMs = itemEveryMs(now - publishedAt) * stretch;
  return nextDue({ now, everyMs, isFirst: true, chance: chanceOf(id) });
}

/** What becomes of a target; nothing where the source could not be asked about it at all. */
function settle(
  { collector, surroundings, stretchOf }: ErrandParts,
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
