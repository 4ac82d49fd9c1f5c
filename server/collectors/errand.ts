/** One errand: a source is asked about some targets, what it tells is stored, and they are settled. */
import type { DueTarget, Errand, FoundItem } from "../../core/collection.ts";
import type { Kind, KINDS } from "../../core/kinds.ts";
import { LOOK_AHEAD_MS } from "../../core/schedule.ts";
import { SourceFailure, type Finding, type ObservationRecord } from "./port.ts";
import { firstDue, settle, type Outcome, type SettleParts } from "./settle.ts";
import type { CollectionState } from "./state.ts";

/** Takes in lines of observations, as an import does; their bytes may be taken over. */
export type TakeIn = (
  lines: Uint8Array,
) => Promise<{ readonly rejected: readonly { readonly line: number; readonly reason: string }[] }>;

/** What an errand is run with. */
export interface ErrandParts extends SettleParts {
  readonly state: CollectionState;
  readonly takeIn: TakeIn;
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

/** Items that are targets already, by their identifiers. */
type Listed = ReadonlyMap<unknown, DueTarget>;

/** Stores what was found: first the observations, then what to ask for from now on. */
async function storeFindings(
  parts: ErrandParts,
  findings: readonly Finding[],
  told: Map<string, Outcome>,
  isListing: boolean,
): Promise<number> {
  const { collector, surroundings, state } = parts;
  const listed: Listed = isListing ? await knownAmong(parts, findings) : new Map();
  const until = surroundings.now() + LOOK_AHEAD_MS;
  const { lines, alongside } = gather(findings, told, listed, until);
  await takeInLines(parts, lines, told);
  const now = surroundings.now();
  const settled = alongside.flatMap((item) =>
    settle(parts, "counts", item, { isGone: false }, undefined),
  );
  for (const { target, items = [] } of findings) {
    if (items.length === 0) continue;
    noteNewest(told.get(target), items);
    const stretch = parts.stretchOf("counts");
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

/** An observation that is to be stored, and the target that it was told of. */
interface ToldLine {
  readonly target: string;
  readonly text: string;
}

/**
 * Notes what was told of targets.
 *
 * @param until What is listed again and again is observed only when it is due until then, or was
 * thought to be gone.
 * @returns The observations that are to be stored, and the listed items that some of them are of.
 */
function gather(
  findings: readonly Finding[],
  told: Map<string, Outcome>,
  listed: Listed,
  until: number,
): { readonly lines: readonly ToldLine[]; readonly alongside: readonly DueTarget[] } {
  const lines: ToldLine[] = [];
  const alongside: DueTarget[] = [];
  for (const { target, memo, failure, isGone = false, observations = [] } of findings) {
    const known: Outcome = told.get(target) ?? { isGone: false };
    if (memo !== undefined) known.memo = memo;
    if (failure !== undefined) known.failure = failure;
    known.isGone ||= isGone;
    told.set(target, known);
    for (const observation of observations) {
      const item = listed.get(observation["id"]);
      if (item !== undefined && item.failures === 0 && item.dueAt > until) continue;
      if (item !== undefined) alongside.push(item);
      noteItemCount(known, observation);
      lines.push({ target, text: JSON.stringify(observation) });
    }
  }
  return { lines, alongside };
}

/** Takes in observations; of a target whose own is rejected it is noted why. */
async function takeInLines(
  { takeIn }: ErrandParts,
  lines: readonly ToldLine[],
  told: ReadonlyMap<string, Outcome>,
): Promise<void> {
  if (lines.length === 0) return;
  const text = lines.map((line) => line.text).join("\n");
  const { rejected } = await takeIn(new TextEncoder().encode(text));
  for (const { line, reason } of rejected) {
    const known = told.get(lines[line - 1]?.target ?? "");
    if (known !== undefined) known.failure = reason;
  }
}

/** The items among what was found that are targets already, by their identifiers. */
async function knownAmong(
  { collector, state }: ErrandParts,
  findings: readonly Finding[],
): Promise<Listed> {
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
