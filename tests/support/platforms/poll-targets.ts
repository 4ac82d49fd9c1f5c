/** Runs the errands of a fixture's collector as the runner would, and gathers what was found. */
import type {
  TaskName,
  DiscoveredItem,
  SourceState,
  CollectionTarget,
} from "../../../server/ports/targets.ts";
import { parseObservation, type Observation } from "../../../core/observations.ts";
import { SourceError, type PollResult } from "../../../server/collectors/collector.ts";
import {
  createTestContext,
  type PlatformFixture,
  type FixtureOwner,
  type TestContext,
} from "./platform-fixture.ts";

/** What an task came to. */
export interface PollSummary {
  readonly results: readonly PollResult[];
  /** Every observation, checked as an import would. */
  readonly observations: readonly Observation[];
  /** The items that were found, in the order they were told of. */
  readonly items: readonly DiscoveredItem[];
  /** What ended it before its time. */
  readonly sourceError: SourceError | undefined;
  readonly context: TestContext;
}

/** What an task is run with. */
export interface PollOptions {
  readonly context?: TestContext;
  /** Items that are observed already. */
  readonly known?: ReadonlyMap<string, SourceState>;
}

/** Runs one task for targets that one batch takes. */
export async function pollBatch(
  fixture: PlatformFixture,
  task: TaskName,
  targets: readonly CollectionTarget[],
  options: PollOptions = {},
): Promise<PollSummary> {
  const { context = createTestContext(fixture), known = new Map() } = options;
  const results: PollResult[] = [];
  let sourceError: SourceError | undefined;
  try {
    const pollResults = fixture.collector.tasks[task].poll(targets, {
      now: () => fixture.clock.now,
      request: context.request,
      findKnownItems: async (ids) =>
        new Map(ids.filter((id) => known.has(id)).map((id) => [id, known.get(id) ?? {}])),
    });
    for await (const result of pollResults) results.push(result);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    sourceError = error;
  }
  const observations = results
    .flatMap((result) => result.observations ?? [])
    .map((record) => parseObservation(record, fixture.clock.now));
  const items = results.flatMap((result) => result.items ?? []);
  return { results, observations, items, sourceError, context };
}

/** Runs an task for any number of targets, batch by batch. */
export async function pollAll(
  fixture: PlatformFixture,
  task: TaskName,
  targets: readonly CollectionTarget[],
  options: PollOptions = {},
): Promise<PollSummary> {
  const context = options.context ?? createTestContext(fixture);
  const { batchSize: batch } = fixture.collector.tasks[task];
  const summaries: PollSummary[] = [];
  for (let from = 0; from < targets.length; from += batch) {
    const batchTargets = targets.slice(from, from + batch);
    summaries.push(await pollBatch(fixture, task, batchTargets, { ...options, context }));
  }
  return {
    results: summaries.flatMap(({ results }) => results),
    observations: summaries.flatMap(({ observations }) => observations),
    items: summaries.flatMap(({ items }) => items),
    sourceError: summaries.find(({ sourceError: failure }) => failure !== undefined)?.sourceError,
    context,
  };
}

/** A target that nothing was told of yet. */
export function createTarget({ id }: { readonly id: string }): CollectionTarget {
  return { id, sourceState: {}, owner: null };
}

/** Targets of `items`, with what a `profile` told of them. */
export async function createItemTargets(
  fixture: PlatformFixture,
  owners: readonly FixtureOwner[],
): Promise<CollectionTarget[]> {
  const { results } = await pollAll(fixture, "profile", owners.map(createTarget));
  const states = new Map<string, SourceState>();
  for (const { targetId, sourceState } of results)
    if (sourceState !== undefined) states.set(targetId, sourceState);
  return owners.map(({ id }) => ({ id, sourceState: states.get(id) ?? {}, owner: null }));
}

/** Targets of `counts`: all items of some owners, as they were found. */
export async function createCountTargets(
  fixture: PlatformFixture,
  owners: readonly FixtureOwner[],
): Promise<CollectionTarget[]> {
  const { results } = await pollAll(fixture, "items", await createItemTargets(fixture, owners));
  return results.flatMap(({ targetId, items = [] }) =>
    items.map(({ id, sourceState = {} }) => ({ id, sourceState, owner: targetId })),
  );
}

/** What was found of one target; all that it was told of, as one. */
export function findResult({ results }: PollSummary, id: string): PollResult {
  const parts = results.filter(({ targetId }) => targetId === id);
  return Object.assign({ targetId: id }, ...parts);
}

/** The observation of an entity; the last one where there are more. */
export function findObservation(
  { observations }: PollSummary,
  entity: string,
): Observation | undefined {
  return observations.findLast((observation) => observation.entityId === entity);
}
