/**
 * Polls a source in cycles, one after another, on demand or in a loop: its due targets, within its
 * quota and rate limits.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../core/errors.ts";
import { startLoop } from "../background-loop.ts";
import type { CollectionState } from "../store/collection/collection-state.ts";
import { TASK_NAMES, type DueTarget, type TaskName } from "./targets.ts";
import type { ImportObservations } from "../../core/stores.ts";
import { createSourceClient, type SourceClientOptions } from "./client/source-client.ts";
import type { Collector, CollectorContext } from "./collector.ts";
import { LOOK_AHEAD_MS, type SlowdownFactors } from "./poll-schedule.ts";
import { createQuotaBudget } from "./quota-budget.ts";
import { createSourceRateLimiter } from "./rate-limiter.ts";
import { createSourceHealth, type SourceEvent, type SourceStatus } from "./source-health.ts";
import { runTask } from "./task.ts";

const TASK_DELAY_MS = 100;

/** A paced cycle ends after this time, so that changes of the lists of creators and channels take effect. */
const PACED_CYCLE_MAX_MS = 15_000;

export interface PollCycleOptions {
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

/**
 * Creates the function that polls the due targets of a source.
 *
 * @param signal Aborts the task that is running.
 */
function createTargetPoller(options: PollCycleOptions, signal: AbortSignal) {
  const { collector, state, now, report, taskDelayMs = TASK_DELAY_MS } = options;
  const source = collector.source.name;
  const work = { observed: 0, failed: 0, observations: 0, requests: 0 };
  const rateLimiter = createSourceRateLimiter(collector, now);
  const health = createSourceHealth({ ...options, rateLimiter });
  const budget = createQuotaBudget(state, collector, now);
  const client = createSourceClient({
    ...options.clientOptions,
    collector,
    rateLimiter,
    now,
    signal,
    async reserveUnit(bucket) {
      const isReserved = await budget.reserveUnit(bucket);
      if (isReserved) work.requests++;
      return isReserved;
    },
    report,
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
    work.observed += result.observed;
    work.failed += result.failed;
    work.observations += result.observations;
    return health.recordTask(bucket, targets.length, result);
  }

  return {
    /**
     * Polls the targets that are due, and alternates between the tasks: profiles stay up to date
     * also while the item lists of thousands of creators are read for the first time.
     */
    async pollDueTargets({ isPaced }: { readonly isPaced: boolean }): Promise<void> {
      if (!(await health.resume())) return;
      const slowdownFactors = await budget.readSlowdownFactors();
      const endsAt = isPaced ? now() + PACED_CYCLE_MAX_MS : Infinity;
      const openTasks = new Set(TASK_NAMES);
      while (openTasks.size > 0 && now() < endsAt) {
        for (const task of openTasks) {
          if (health.isStopped() || signal.aborted) return;
          if (!(await runBatch(task, { isPaced, slowdownFactors }))) openTasks.delete(task);
          // The delay lets API requests read the database in between.
          else if (isPaced) await sleep(taskDelayMs, undefined, { signal }).catch(() => undefined);
        }
      }
    },

    async readStatus(): Promise<SourceStatus> {
      const { stopped, failing, lastFailure } = await health.read();
      const buckets = (await budget.readUsage()).map((usage) =>
        Object.assign(usage, { pausedUntil: rateLimiter.pausedUntil(usage.bucket) }),
      );
      return { source, work: { ...work }, stopped, failing, lastFailure, buckets };
    },
  };
}

async function findKnownItems({ state, collector }: PollCycleOptions, ids: readonly string[]) {
  const items = ids.length === 0 ? [] : await state.listItemTargets(collector.source.platform, ids);
  return new Map(items.map((item) => [item.id, item]));
}

/** Returns a batch of due targets, filled up with targets that are due soon. */
async function listDueBatch(
  { collector, state, now }: PollCycleOptions,
  task: TaskName,
): Promise<DueTarget[]> {
  const { batchSize } = collector.tasks[task];
  const until = now() + (batchSize > 1 ? LOOK_AHEAD_MS : 0);
  const targets = await state.listDue(collector.source.platform, task, until, batchSize);
  const [first] = targets;
  return first === undefined || first.dueAt > now() ? [] : targets;
}

type PollCycle = ReturnType<typeof createPollCycle>;

/** Creates the poll cycles of a source. The database has the due targets: cycles can be aborted. */
export function createPollCycle(options: PollCycleOptions) {
  const { collector, state, now } = options;
  const abortController = new AbortController();
  const { pollDueTargets, readStatus } = createTargetPoller(options, abortController.signal);
  let previousCycle: Promise<unknown> = Promise.resolve();

  async function runCycle(isPaced: boolean): Promise<void> {
    await state.syncTargets(now());
    await pollDueTargets({ isPaced });
    if (!isPaced && abortController.signal.aborted) {
      throw new DomainError("Service Unavailable", "Collecting was ended before it was done");
    }
  }

  return {
    /**
     * Runs one cycle, after the cycle that is running.
     *
     * @param isPaced Whether the quota must last the day; then the cycle ends after 15 seconds, and a
     * delay follows each task. Otherwise it runs until nothing is due.
     */
    collect({ isPaced = true }: { readonly isPaced?: boolean } = {}): Promise<void> {
      const cycle = previousCycle.then(() => runCycle(isPaced));
      previousCycle = cycle.catch(() => undefined);
      return cycle;
    },

    /** Returns when a target is due next; `undefined` without targets. */
    readNextDue: () => state.readNextDue(collector.source.platform),

    status: readStatus,

    /** Aborts the task that is running, and begins no other. */
    stop: () => abortController.abort(),
  };
}

/** Bounds of the time between two cycles, in milliseconds. */
const POLL_INTERVAL_MIN_MS = 2000;
const POLL_INTERVAL_MAX_MS = 30_000;

/**
 * Runs cycles until it is stopped.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @param onFailure Called after a cycle that failed; the loop goes on.
 * @returns Stops the loop; resolves when no task is running.
 */
export function startPollLoop(
  pollCycle: PollCycle,
  now: () => number,
  onFailure: (error: unknown) => void,
  maxPollIntervalMs = POLL_INTERVAL_MAX_MS,
): () => Promise<void> {
  const stopLoop = startLoop({
    async run() {
      await pollCycle.collect();
      const dueAt = (await pollCycle.readNextDue()) ?? Infinity;
      return Math.min(maxPollIntervalMs, Math.max(POLL_INTERVAL_MIN_MS, dueAt - now()));
    },
    intervalMs: maxPollIntervalMs,
    onFailure,
  });
  return () => {
    pollCycle.stop();
    return stopLoop();
  };
}
