/** Poll cycles of one source, within its quota and rate limits, and the engine of all sources. */
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../../core/errors.ts";
import type { ImportObservations } from "../../core/stores.ts";
import { startLoop } from "../background-loop.ts";
import type { CollectionState } from "../store/collection/collection-state.ts";
import { createSourceClient } from "./client/source-client.ts";
import {
  type Collector,
  type CollectorContext,
  TASK_NAMES,
  type DueTarget,
  type TaskName,
} from "./collector.ts";
import { LOOK_AHEAD_MS, type SlowdownFactors } from "./poll-schedule.ts";
import { createQuotaBudget } from "./quota-budget.ts";
import { createSourceRateLimiter } from "./rate-limiter.ts";
import { createSourceHealth, type SourceEvent, type SourceStatus } from "./source-health.ts";
import { traceWork } from "../telemetry/tracing.ts";
import type { SelectedSources } from "./sources.ts";
import { runTask } from "./task.ts";

const TASK_DELAY_MS = 100;
/** Bounds of the time between two cycles. */
const POLL_INTERVAL_MIN_MS = 2000;
const POLL_INTERVAL_MAX_MS = 30_000;
/** A paced cycle ends after this time, so that changes of the watch lists take effect. */
const PACED_CYCLE_MAX_MS = 15_000;

interface PollCycleOptions {
  readonly collector: Collector;
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
  now(): number;
  report(event: SourceEvent): void;
  readonly taskDelayMs?: number;
  readonly clientOptions?:
    | Pick<Parameters<typeof createSourceClient>[0], "startTimeout" | "retryMinMs">
    | undefined;
}

/** Whether polling is slowed so that the quota lasts the day. */
type Pace = Readonly<Record<"isPaced", boolean>>;

/** Creates the poll cycles of a source. A cycle can be aborted: due targets are in the database. */
export function createPollCycle(options: PollCycleOptions) {
  const { collector, state, now } = options;
  let abortController = new AbortController();
  const { pollDueTargets, readStatus } = createTargetPoller(options, () => abortController.signal);
  let previousCycle: Promise<unknown> = Promise.resolve();

  async function runCycle(pace: Pace): Promise<void> {
    await state.syncTargets(now());
    await pollDueTargets(pace);
    if (!pace.isPaced && abortController.signal.aborted) {
      throw new DomainError("Service Unavailable", "Collecting was ended before it was done");
    }
  }

  /** Runs a cycle after the current one. A cycle that is not paced ends when nothing is due. */
  function collect(pace: Pace = { isPaced: true }): Promise<void> {
    const cycle = previousCycle.then(() => runCycle(pace));
    previousCycle = cycle.catch(() => undefined);
    return cycle;
  }

  return {
    collect,
    status: readStatus,

    /**
     * Runs cycles, also after a failure. @returns Stops, and aborts the running task. Afterwards it
     * can start again.
     */
    start(onFailure: (error: unknown) => void, intervalMs = POLL_INTERVAL_MAX_MS) {
      if (abortController.signal.aborted) abortController = new AbortController();
      const stopLoop = startLoop({
        async run() {
          await collect();
          const dueAt = (await state.readNextDue(collector.source.platform)) ?? Infinity;
          return Math.min(intervalMs, Math.max(POLL_INTERVAL_MIN_MS, dueAt - now()));
        },
        intervalMs,
        onFailure,
      });
      return () => {
        abortController.abort();
        return stopLoop();
      };
    },
  };
}

/** @param getSignal Returns the signal of the current start, which a stop aborts. */
function createTargetPoller(options: PollCycleOptions, getSignal: () => AbortSignal) {
  const { collector, state, now, taskDelayMs = TASK_DELAY_MS } = options;
  const { platform } = collector.source;
  const work = { observed: 0, failed: 0, observations: 0, requests: 0 };
  const rateLimiter = createSourceRateLimiter(collector, now);
  const health = createSourceHealth({ ...options, rateLimiter });
  const budget = createQuotaBudget(state, collector, now);
  const client = createSourceClient({
    ...options,
    ...options.clientOptions,
    rateLimiter,
    getSignal,
    async reserveUnit(bucket) {
      const isReserved = await budget.reserveUnit(bucket);
      if (isReserved) work.requests++;
      return isReserved;
    },
  });

  async function runBatch(task: TaskName, { isPaced }: Pace, slowdownFactors: SlowdownFactors) {
    const { bucket } = collector.tasks[task];
    if (rateLimiter.readyAt(bucket, { isPaced }) > now()) return false;
    const targets = await listDueBatch(options, task);
    if (targets.length === 0) return false;
    const context: CollectorContext = {
      now,
      request: (request) => client.request(request, bucket),
      async findKnownItems(ids) {
        const items = ids.length === 0 ? [] : await state.listItemTargets(platform, ids);
        return new Map(items.map((item) => [item.id, item]));
      },
    };
    const taskOptions = { ...options, context, slowdownFactors };
    const { name: source } = collector.source;
    const attributes = { "creator_metrics.source": source, "creator_metrics.task": task };
    const run = () => runTask(taskOptions, task, targets);
    const result = await traceWork(`collect ${source} ${task}`, run, { root: true, attributes });
    work.observed += result.observed;
    work.failed += result.failed;
    work.observations += result.observations;
    return health.recordTask(bucket, targets.length, result);
  }

  return {
    /** Polls due targets, alternating tasks: many first lists of items must not delay profiles. */
    async pollDueTargets(pace: Pace): Promise<void> {
      if (!(await health.resume())) return;
      const slowdownFactors = await budget.readSlowdownFactors();
      const endsAt = pace.isPaced ? now() + PACED_CYCLE_MAX_MS : Infinity;
      const signal = getSignal();
      const openTasks = new Set(TASK_NAMES);
      while (openTasks.size > 0 && now() < endsAt) {
        for (const task of openTasks) {
          if (health.isStopped() || signal.aborted) return;
          if (!(await runBatch(task, pace, slowdownFactors))) openTasks.delete(task);
          // The delay lets API requests read the database in between.
          else if (pace.isPaced) await sleep(taskDelayMs, undefined, { signal }).catch(() => {});
        }
      }
    },

    async readStatus(): Promise<SourceStatus> {
      const buckets = (await budget.readUsage()).map((usage) =>
        Object.assign(usage, { pausedUntil: rateLimiter.pausedUntil(usage.bucket) }),
      );
      const { name: source } = collector.source;
      return { source, work: { ...work }, ...(await health.read()), buckets };
    },
  };
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

export async function createCollectionEngine({
  selectedSources,
  maxPollIntervalMs,
  ...options
}: Omit<Parameters<typeof createPollCycle>[0], "collector"> & {
  readonly selectedSources: SelectedSources;
  /** The longest wait between two poll cycles, in milliseconds; 30 seconds by default. */
  readonly maxPollIntervalMs?: number;
}) {
  const connected = Object.values(selectedSources).flatMap(({ source, connection }) =>
    connection === undefined ? [] : [{ source, connection }],
  );
  // Each source has cycles of its own: a slow source delays no other.
  const pollCycles = await Promise.all(
    connected.map(async ({ source, connection }) => {
      const createCollector = await source.loadCollector();
      return createPollCycle({ ...options, collector: createCollector(connection) });
    }),
  );
  const sources = () => Promise.all(pollCycles.map((pollCycle) => pollCycle.status()));
  return {
    sources,

    /** Polls all that is due now. @returns Each source's status, with the work of this call. */
    async collect(): Promise<SourceStatus[]> {
      const before = await sources();
      const cycles = pollCycles.map((pollCycle) => pollCycle.collect({ isPaced: false }));
      for (const result of await Promise.allSettled(cycles)) {
        if (result.status === "rejected") throw result.reason;
      }
      const after = await sources();
      return after.map((status, index) =>
        Object.assign(status, { work: subtractWork(status.work, before[index]?.work) }),
      );
    },

    /** Polls at the pace of the quotas. @returns Stops polling. */
    start(onFailure: (error: unknown) => void): () => Promise<void> {
      const stops = pollCycles.map((pollCycle) => pollCycle.start(onFailure, maxPollIntervalMs));
      return async () => void (await Promise.all(stops.map((stop) => stop())));
    },
  };
}

const subtractWork = (after: SourceStatus["work"], before = after): SourceStatus["work"] => ({
  requests: after.requests - before.requests,
  observed: after.observed - before.observed,
  failed: after.failed - before.failed,
  observations: after.observations - before.observations,
});
