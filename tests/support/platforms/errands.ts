/** Runs the errands of a stage's collector as the runner would, and gathers what was found. */
import type { Errand, FoundItem, Memo, Target } from "../../../core/collection.ts";
import { checkObservation, type Observation } from "../../../core/observations.ts";
import { SourceFailure, type Finding } from "../../../server/collectors/port.ts";
import { surround, type Stage, type StageOwner, type StageSurroundings } from "./stage.ts";

/** What an errand came to. */
export interface Outcome {
  readonly findings: readonly Finding[];
  /** Every observation, checked as an import would. */
  readonly observations: readonly Observation[];
  /** The items that were found, in the order they were told of. */
  readonly items: readonly FoundItem[];
  /** What ended it before its time. */
  readonly failure: SourceFailure | undefined;
  readonly surroundings: StageSurroundings;
}

/** What an errand is run with. */
export interface ErrandOptions {
  readonly surroundings?: StageSurroundings;
  /** Items that are observed already. */
  readonly known?: ReadonlyMap<string, Memo>;
}

/** Runs one errand for targets that one batch takes. */
export async function run(
  stage: Stage,
  errand: Errand,
  targets: readonly Target[],
  options: ErrandOptions = {},
): Promise<Outcome> {
  const { surroundings = surround(stage), known = new Map() } = options;
  const findings: Finding[] = [];
  let failure: SourceFailure | undefined;
  try {
    const told = stage.collector.errands[errand].observe(targets, {
      now: () => stage.clock.now,
      ask: surroundings.ask,
      knownOf: async (ids) =>
        new Map(ids.filter((id) => known.has(id)).map((id) => [id, known.get(id) ?? {}])),
    });
    for await (const finding of told) findings.push(finding);
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error;
    failure = error;
  }
  const observations = findings
    .flatMap((finding) => finding.observations ?? [])
    .map((record) => checkObservation(record, stage.clock.now));
  const items = findings.flatMap((finding) => finding.items ?? []);
  return { findings, observations, items, failure, surroundings };
}

/** Runs an errand for any number of targets, batch by batch. */
export async function runAll(
  stage: Stage,
  errand: Errand,
  targets: readonly Target[],
  options: ErrandOptions = {},
): Promise<Outcome> {
  const surroundings = options.surroundings ?? surround(stage);
  const { batch } = stage.collector.errands[errand];
  const outcomes: Outcome[] = [];
  for (let from = 0; from < targets.length; from += batch) {
    const part = targets.slice(from, from + batch);
    outcomes.push(await run(stage, errand, part, { ...options, surroundings }));
  }
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    observations: outcomes.flatMap(({ observations }) => observations),
    items: outcomes.flatMap(({ items }) => items),
    failure: outcomes.find(({ failure }) => failure !== undefined)?.failure,
    surroundings,
  };
}

/** A target that nothing was told of yet. */
export function targetOf({ id }: { readonly id: string }): Target {
  return { id, memo: {}, owner: null };
}

/** Targets of `items`, with what a `profile` told of them. */
export async function introduce(stage: Stage, owners: readonly StageOwner[]): Promise<Target[]> {
  const { findings } = await runAll(stage, "profile", owners.map(targetOf));
  const memos = new Map<string, Memo>();
  for (const { target, memo } of findings) if (memo !== undefined) memos.set(target, memo);
  return owners.map(({ id }) => ({ id, memo: memos.get(id) ?? {}, owner: null }));
}

/** Targets of `counts`: all items of some owners, as they were found. */
export async function listItems(stage: Stage, owners: readonly StageOwner[]): Promise<Target[]> {
  const { findings } = await runAll(stage, "items", await introduce(stage, owners));
  return findings.flatMap(({ target, items = [] }) =>
    items.map(({ id, memo = {} }) => ({ id, memo, owner: target })),
  );
}

/** What was found of one target; all that it was told of, as one. */
export function findingOf({ findings }: Outcome, id: string): Finding {
  const found = findings.filter(({ target }) => target === id);
  return Object.assign({ target: id }, ...found);
}

/** The observation of an entity; the last one where there are more. */
export function observationOf({ observations }: Outcome, entity: string): Observation | undefined {
  return observations.findLast((observation) => observation.entity === entity);
}
