/** Runs poll cycles of one source: for its due targets, within its quota and rate limits. */
import { setTimeout as sleep } from "node:timers/promises";
import { TASK_NAMES, type DueTarget, type TaskName } from "../ports/targets.ts";
import { LOOK_AHEAD_MS } from "./poll-schedule.ts";
import type { CollectionState, SourceEvent, SourceStatus } from "../ports/collection.ts";
import type { ImportObservations } from "../ports/reads.ts";
import { createSourceClient, type SourceClientOptions } from "./client/source-client.ts";
import type { Collector, CollectorContext } from "./collector.ts";
import { createSlowdownCache, createUnitCounter, type SlowdownFactors } from "./quota-budget.ts";
import { createSourceRateLimiter } from "./rate-limiter.ts";
import { createSourceHealth } from "./source-health.ts";
import { runTask } from "./task.ts";

const TASK_DELAY_MS = 100;

/** A paced cycle ends after this time, so that changes of the lists of creators and channels take effect. */
const PACED_CYCLE_MAX_MS = 15_000;

/** The options of a runner. */
export interface RunnerOptions {
  readonly collector: Collector;
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  report(event: SourceEvent): void;
  /** Milliseconds between two tasks, 100 by default. */
  readonly taskDelayMs?: number;
  readonly clientOptions?: Pick<SourceClientOptions, "startTimeout" | "retryMinMs"> | undefined;
}

/** The counts of a task's result that are added up. */
const RESULT_COUNTS = ["observed", "failed", "observations"] as const;

/**
 * Creates the runner of a source.
 *
 * @param signal Aborts the task that is running.
 */
export function createSourceRunner(options: RunnerOptions, signal: AbortSignal) {
  const { collector, state, now, report, taskDelayMs = TASK_DELAY_MS } = options;
  const { source } = collector;
  const work = { observed: 0, failed: 0, observations: 0, requests: 0 };
  const rateLimiter = createSourceRateLimiter(collector, now);
  const health = createSourceHealth({ ...options, rateLimiter });
  const readSlowdownFactors = createSlowdownCache(state, collector, now);
  const unitCounter = createUnitCounter(state, collector, now);
  const client = createSourceClient({
    ...options.clientOptions,
    collector,
    rateLimiter,
    now,
    signal,
    async reserveUnit(bucket) {
      const isReserved = await unitCounter.reserveUnit(bucket);
      if (isReserved) work.requests++;
      return isReserved;
    },
    onRetry: (reason) => report({ kind: "retried", source, reason }),
    onPause: (reason) => report({ kind: "paused", source, reason }),
  });

  /** Runs a task for one batch. @returns Whether there may be more to do. */
  async function runBatch(
    task: TaskName,
    { isPaced, slowdownFactors }: { isPaced: boolean; slowdownFactors: SlowdownFactors },
  ): Promise<boolean> {
    const { bucket } = collector.tasks[task];
    if (rateLimiter.readyAt(bucket, { isPaced }) > now()) return false;
    const targets = await listDueBatch(options, task);
    if (targets.length === 0) return false;
    const context: CollectorContext = {
      now,
      request: (request) => client.request(request, bucket),
      findKnownItems: (ids) => findKnownItems(options, ids),
    };
    const result = await runTask({ ...options, context, slowdownFactors }, task, targets);
    const { sourceError, warning } = result;
    for (const count of RESULT_COUNTS) work[count] += result[count];
    const isNoneObserved = targets.length > 1 && result.observed === 0;
    if (sourceError !== undefined) {
      const failedTask = { bucket, targets: targets.length, isNoneObserved };
      return health.recordError(sourceError, failedTask);
    }
    if (warning !== undefined && isNoneObserved) health.recordAllFailed(warning, targets.length);
    else health.recordSuccess();
    return true;
  }

  return {
    /**
     * Polls the targets that are due, and alternates between the tasks: profiles stay up to date
     * also while the item lists of thousands of creators are read for the first time.
     *
     * @param isPaced Whether the quota must last the day; then the cycle ends after 15 seconds, and a
     * delay follows each task.
     */
    async runCycle({ isPaced }: { readonly isPaced: boolean }): Promise<void> {
      if (!(await health.resume())) return;
      const slowdownFactors = await readSlowdownFactors();
      const endsAt = isPaced ? now() + PACED_CYCLE_MAX_MS : Infinity;
      const openTasks = new Set(TASK_NAMES);
      while (openTasks.size > 0 && now() < endsAt) {
        for (const task of openTasks) {
          if (health.isStopped() || signal.aborted) return;
          if (!(await runBatch(task, { isPaced, slowdownFactors }))) openTasks.delete(task);
          // The delay lets API requests read the database in between.
          else if (isPaced) await delay(taskDelayMs, signal);
        }
      }
    },

    /** Returns the status of the source. */
    async status(): Promise<SourceStatus> {
      const { stopped, failing } = await health.read();
      const buckets = (await unitCounter.readUsage()).map((usage) =>
        Object.assign(usage, { pausedUntil: rateLimiter.pausedUntil(usage.bucket) }),
      );
      return { source, work: { ...work }, stopped, failing, buckets };
    },
  };
}

async function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** Returns the source state of the items that are collected already, by their identifiers. */
async function findKnownItems({ state, collector }: RunnerOptions, ids: readonly string[]) {
  const known = await state.listItemTargets(collector.platform, ids);
  return new Map(known.map(({ id, sourceState }) => [id, sourceState]));
}

/** Returns a batch of due targets, filled up with targets that are due soon. */
async function listDueBatch(
  { collector, state, now }: RunnerOptions,
  task: TaskName,
): Promise<DueTarget[]> {
  const { batchSize } = collector.tasks[task];
  const until = now() + (batchSize > 1 ? LOOK_AHEAD_MS : 0);
  const targets = await state.listDue(collector.platform, task, until, batchSize);
  const [first] = targets;
  return first === undefined || first.dueAt > now() ? [] : targets;
}
