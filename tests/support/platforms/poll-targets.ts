/** Runs the tasks of a collector, and gathers their results. */
import {
  type TaskName,
  type DiscoveredItem,
  type DueTarget,
  type SourceState,
  type CollectionTarget,
  SourceError,
  type PollResult,
} from "../../../server/collectors/collector.ts";
import { parseObservation, type Observation } from "../../../core/observations.ts";
import { createTestContext, type PlatformFixture, type TestContext } from "./platform-fixture.ts";
import type { FixtureOwner } from "./platform-setups.ts";

/** The results of a task. */
export interface PollSummary {
  readonly results: readonly PollResult[];
  /** Every observation, checked as in an import. */
  readonly observations: readonly Observation[];
  /** The items, in the order of the results. */
  readonly items: readonly DiscoveredItem[];
  /** What ended the task early. */
  readonly sourceError: SourceError | undefined;
  readonly context: TestContext;
}

/** The options of a task. */
export interface PollOptions {
  readonly context?: TestContext;
  /** Items that are targets already. */
  readonly known?: ReadonlyMap<string, SourceState>;
}

/** Runs a task for one batch. */
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
    const { bucket, poll } = fixture.collector.tasks[task];
    const pollResults = poll(targets, {
      now: () => fixture.clock.now,
      request: (request) => context.request(request, bucket),
      findKnownItems: async (ids) =>
        new Map(ids.filter((id) => known.has(id)).map((id) => [id, createKnownItem(id, known)])),
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

function createKnownItem(id: string, known: ReadonlyMap<string, SourceState>): DueTarget {
  const sourceState = known.get(id) ?? {};
  return { id, sourceState, owner: null, dueAt: 0, succeededAt: 0, publishedAt: 0, failures: 0 };
}

/** Runs a task for any number of targets, batch by batch. */
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

/** Creates a target without source state. */
export function createTarget({ id }: { readonly id: string }): CollectionTarget {
  return { id, sourceState: {}, owner: null };
}

/** Creates targets of `items`, with the source state of a `profile`. */
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

/** Creates targets of `counts`: all items that `items` finds. */
export async function createCountTargets(
  fixture: PlatformFixture,
  owners: readonly FixtureOwner[],
): Promise<CollectionTarget[]> {
  const { results } = await pollAll(fixture, "items", await createItemTargets(fixture, owners));
  return results.flatMap(({ targetId, items = [] }) =>
    items.map(({ id, sourceState = {} }) => ({ id, sourceState, owner: targetId })),
  );
}

/** Returns the merged results of one target. */
export function findResult({ results }: PollSummary, id: string): PollResult {
  const parts = results.filter(({ targetId }) => targetId === id);
  return Object.assign({ targetId: id }, ...parts);
}

/** Returns the last observation of an entity. */
export function findObservation(
  { observations }: PollSummary,
  entity: string,
): Observation | undefined {
  return observations.findLast((observation) => observation.entityId === entity);
}
