/** One source: asked for what is due, within its quota and at its pace, turn by turn. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  TASK_NAMES,
  type TaskName,
  type FailingSource,
  type StoppedSource,
} from "../ports/targets.ts";
import { formatQuotaDay } from "./quota-day.ts";
import { LOOK_AHEAD_MS } from "./poll-schedule.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { getBucket, usableUnits, computeSlowdownFactors } from "./quota-budget.ts";
import {
  createSourceClient,
  createPausedError,
  type SourceClientOptions,
} from "./client/source-client.ts";
import { runTask, type TaskOptions } from "./task.ts";
import { createSourceRateLimiter, type SourceRateLimiter } from "./rate-limiter.ts";
import type { Collector, SourceError, CollectorContext } from "./collector.ts";
import { createSourceBreaker, readPauseEnd, type SourceBreaker } from "./circuit-breaker.ts";
import type {
  CollectionState,
  SourceCounters,
  SourceEvent,
  SourceStatus,
} from "../ports/collection.ts";
import type { ImportObservations } from "../ports/reads.ts";

/** How long the stretches of a source are good for. */
const SLOWDOWN_MAX_AGE_MS = 10 * MINUTE_MS;

/** How long it rests between two errands, unless told. */
const TASK_DELAY_MS = 100;

/** After that long a turn ends: the lists are looked at anew. */
const MAX_CYCLE_MS = 15_000;

/** What a source is asked with. */
export interface RunnerOptions {
  readonly state: CollectionState;
  readonly importObservations: ImportObservations;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  report(event: SourceEvent): void;
  /** Milliseconds between two errands of a source, 100 unless told. */
  readonly taskDelayMs?: number;
  /** How an answer is waited for; see the client. */
  readonly client?: Pick<SourceClientOptions, "startTimeout" | "retryMinMs"> | undefined;
}

/** What a runner keeps while it runs. */
interface RunnerState extends RunnerOptions {
  readonly collector: Collector;
  /** A hash of the settings that the source is asked with. */
  readonly settingsHash: string;
  readonly signal: AbortSignal;
  readonly rateLimiter: SourceRateLimiter;
  readonly breaker: SourceBreaker;
  readonly context: CollectorContext;
  readonly work: { -readonly [Name in keyof SourceCounters]: number };
  slowdownFactors: Readonly<Record<TaskName, number>>;
  /** When the stretches were found; it means counting all items. */
  slowdownsComputedAt: number;
  /** Whether it was stopped in this turn: nothing more is asked of it. */
  isStopped: boolean;
  /** With the targets that it failed about: of one alone, the target may be the cause. */
  failing: (FailingSource & { readonly targets: number }) | undefined;
}

/**
 * Makes what asks a source.
 *
 * @param signal Ends what is under way.
 */
export function createSourceRunner(
  options: RunnerOptions,
  collector: Collector,
  signal: AbortSignal,
) {
  const { state, now } = options;
  const rateLimiter = createSourceRateLimiter(collector, now);
  const { platform, baseUrl, credentials } = collector;
  const work = { observed: 0, failed: 0, observations: 0, requests: 0 };
  const runner: RunnerState = {
    ...options,
    collector,
    settingsHash: new Bun.CryptoHasher("sha256")
      .update(JSON.stringify([baseUrl, credentials]))
      .digest("hex"),
    signal,
    rateLimiter,
    breaker: createSourceBreaker(),
    context: createContext(options, collector, { signal, rateLimiter, work }),
    work,
    slowdownFactors: { profile: 1, items: 1, counts: 1 },
    slowdownsComputedAt: -Infinity,
    isStopped: false,
    failing: undefined,
  };
  return {
    /** Asks the source for what is due and what it lets itself be asked, for one turn. */
    runCycle: (isPaced: boolean): Promise<void> => runCycle(runner, isPaced),

    /** When something is due again; `undefined` while nothing is. */
    readNextDue: () => state.readNextDue(platform),

    /** How the source is doing. */
    status: (): Promise<SourceStatus> => readStatus(runner),
  };
}

function createContext(
  { state, now, report, client }: RunnerOptions,
  collector: Collector,
  { signal, rateLimiter, work }: Pick<RunnerState, "signal" | "rateLimiter" | "work">,
): CollectorContext {
  const { source, platform } = collector;
  const { request } = createSourceClient({
    collector,
    now,
    signal,
    ...client,
    async takeUnit(bucket) {
      rateLimiter.take(bucket);
      const { unitsPerDay, zone } = getBucket(collector, bucket);
      const limit = usableUnits(unitsPerDay);
      const day = formatQuotaDay(now(), zone);
      const isAvailable = await state.reserveUnits({ source, bucket, day, units: 1, limit });
      if (isAvailable) work.requests++;
      return isAvailable;
    },
    onRetry: (reason) => report({ kind: "retried", source, reason }),
  });
  return {
    now,
    request,
    async findKnownItems(ids) {
      const known = await state.listItemTargets(platform, ids);
      return new Map(known.map(({ id, sourceState: memo }) => [id, memo]));
    },
  };
}

/**
 * What an errand works with that draws on a bucket. Whether that may be asked was found out before;
 * another one that it needs besides may be paused, or its window used up.
 */
function guardOtherBuckets(
  { collector, rateLimiter, context, now }: RunnerState,
  taskBucket: string,
): CollectorContext {
  return {
    ...context,
    async request(question) {
      const { bucket } = question;
      if (bucket !== taskBucket) {
        const readyAt = rateLimiter.readyAt(bucket, false);
        if (readyAt > now()) throw createPausedError(collector, bucket, readyAt);
      }
      return context.request(question);
    },
  };
}

/**
 * Goes round the errands until nothing of them is due, or the turn is over. None waits for all of
 * another: profiles are observed in time also while thousands of lists are read for the first time.
 */
async function runCycle(runner: RunnerState, isPaced: boolean): Promise<void> {
  if ((await readOrClearStop(runner)) !== undefined) return;
  runner.isStopped = false;
  const { collector, state, now } = runner;
  if (Math.abs(now() - runner.slowdownsComputedAt) >= SLOWDOWN_MAX_AGE_MS) {
    runner.slowdownFactors = await computeSlowdownFactors(state, collector, now());
    runner.slowdownsComputedAt = now();
  }
  const endsAt = isPaced ? now() + MAX_CYCLE_MS : Infinity;
  const openTasks = new Set(TASK_NAMES);
  while (openTasks.size > 0 && now() < endsAt) {
    for (const task of openTasks) {
      if (runner.isStopped || runner.signal.aborted) return;
      if (!(await runNextTask(runner, task, isPaced))) openTasks.delete(task);
      else if (isPaced) await pauseBetweenTasks(runner);
    }
  }
}

/** Lets those who read go first. */
async function pauseBetweenTasks({
  taskDelayMs = TASK_DELAY_MS,
  signal,
}: RunnerState): Promise<void> {
  if (taskDelayMs > 0) await sleep(taskDelayMs, undefined, { signal }).catch(() => undefined);
}

/** Runs an errand for what is due of it. @returns Whether there may be more to do of it. */
async function runNextTask(
  runner: RunnerState,
  task: TaskName,
  isPaced: boolean,
): Promise<boolean> {
  const { collector, rateLimiter, breaker, state, importObservations, now, work } = runner;
  const { batchSize, bucket } = collector.tasks[task];
  if (rateLimiter.readyAt(bucket, isPaced) > now()) return false;
  const until = now() + (batchSize > 1 ? LOOK_AHEAD_MS : 0);
  const targets = await state.listDue(collector.platform, task, until, batchSize);
  const [first] = targets;
  if (first === undefined || first.dueAt > now()) return false;
  const slowdownFactorFor = (taskKind: TaskName) => runner.slowdownFactors[taskKind];
  const taskOptions: TaskOptions = {
    collector,
    context: guardOtherBuckets(runner, bucket),
    state,
    importObservations,
    slowdownFactorFor,
  };
  const result = await runTask(taskOptions, task, targets);
  work.observed += result.observed;
  work.failed += result.failed;
  work.observations += result.observations;
  const isNoneObserved = targets.length > 1 && result.observed === 0;
  if (result.sourceError !== undefined) {
    const { kind, message } = result.sourceError;
    const isFailing = kind === "failed" || (kind === "refused" && isNoneObserved);
    if (isFailing) recordFailure(runner, message, targets.length);
    return handleSourceError(runner, bucket, result.sourceError);
  }
  // One that fails fails alone; where all do, what the source tells has changed.
  if (result.warning !== undefined && isNoneObserved) {
    const reason = `None of ${targets.length} could be observed: ${result.warning}`;
    runner.report({ kind: "failed", source: collector.source, reason });
    recordFailure(runner, reason, targets.length);
  } else runner.failing = undefined;
  breaker.recordSuccess();
  return true;
}

/** Notes why a source fails. It has been failing since the first failure after an answer. */
function recordFailure(runner: RunnerState, reason: string, targets: number): void {
  const { since = runner.now(), targets: previousTargets = 0 } = runner.failing ?? {};
  runner.failing = { reason, since, targets: previousTargets + targets };
}

/** Deals with a source that could not be asked. @returns Whether the errand goes on. */
async function handleSourceError(
  runner: RunnerState,
  bucket: string,
  { kind, message: reason, until, bucket: pausedBucket = bucket }: SourceError,
): Promise<boolean> {
  const {
    collector,
    settingsHash: settings,
    rateLimiter,
    breaker,
    state,
    now,
    report,
    signal,
  } = runner;
  const { source } = collector;
  if (kind === "wait" && until !== undefined) {
    const isNew = rateLimiter.pausedUntil(pausedBucket) === undefined;
    if (isNew && !signal.aborted) report({ kind: "paused", source, reason });
    rateLimiter.pause(pausedBucket, until);
    return pausedBucket !== bucket;
  }
  if (kind === "stop") {
    runner.isStopped = true;
    runner.failing = undefined;
    const stopped = { reason, since: now(), until: until ?? null };
    await state.saveStop(source, settings, stopped);
    report({ kind: "stopped", source, reason, until: stopped.until });
    return false;
  }
  report({ kind: "failed", source, reason });
  // It answered: what it would not tell says nothing of the rest.
  if (kind === "refused") return true;
  const openMs = breaker.recordFailure(bucket);
  if (openMs > 0) rateLimiter.pause(bucket, now() + openMs);
  return openMs === 0;
}

/** Why a source is stopped; one whose time has come goes on. */
async function readOrClearStop(runner: RunnerState): Promise<StoppedSource | undefined> {
  const { collector, settingsHash: settings, state, now, report } = runner;
  const { source } = collector;
  const stopped = await state.readStop(source, settings);
  if (stopped === undefined || stopped.until === null) return stopped;
  if (readPauseEnd({ from: stopped.since, until: stopped.until }, now()) !== undefined)
    return stopped;
  await state.clearStop(source);
  report({ kind: "resumed", source });
  return undefined;
}

async function readStatus({
  collector,
  settingsHash: settings,
  rateLimiter,
  work,
  state,
  now,
  failing,
}: RunnerState) {
  const { source, buckets } = collector;
  return {
    source,
    work: { ...work },
    stopped: await state.readStop(source, settings),
    failing: failing === undefined || failing.targets === 1 ? undefined : failing,
    buckets: await Promise.all(
      Object.entries(buckets).map(async ([bucket, { unitsPerDay, zone }]) => ({
        bucket,
        used: await state.readUsedUnits(source, bucket, formatQuotaDay(now(), zone)),
        limit: usableUnits(unitsPerDay),
        pausedUntil: rateLimiter.pausedUntil(bucket),
      })),
    ),
  };
}
