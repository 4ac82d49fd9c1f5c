/** One source: asked for what is due, within its quota and at its pace, turn by turn. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  ERRANDS,
  type Errand,
  type FailingSource,
  type StoppedSource,
} from "../../core/collection.ts";
import { quotaDay } from "../../core/quota.ts";
import { LOOK_AHEAD_MS } from "../../core/schedule.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { bucketOf, limitOf, stretchesOf } from "./budget.ts";
import { createClient, exhausted, type ClientOptions } from "./client.ts";
import { runErrand, type TakeIn } from "./errand.ts";
import { createPace, type SourcePace } from "./pace.ts";
import type { Collector, SourceFailure, Surroundings } from "./port.ts";
import { createRests, endOf, type Rests } from "./rests.ts";
import type { CollectionState } from "./state.ts";
import type { SourceEvent, SourceStatus, SourceWork } from "./status.ts";

/** How long the stretches of a source are good for. */
const STRETCHED_FOR_MS = 10 * MINUTE_MS;

/** How long it rests between two errands, unless told. */
const REST_BETWEEN_MS = 100;

/** After that long a turn ends: the lists are looked at anew. */
const TURN_MS = 15_000;

/** What a source is asked with. */
export interface RunnerParts {
  readonly state: CollectionState;
  readonly takeIn: TakeIn;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  report(event: SourceEvent): void;
  /** Milliseconds between two errands of a source, 100 unless told. */
  readonly restMs?: number;
  /** How an answer is waited for; see the client. */
  readonly client?: Pick<ClientOptions, "startTimeout" | "retryMinMs"> | undefined;
}

/** What a runner keeps while it runs. */
interface Running extends RunnerParts {
  readonly collector: Collector;
  /** A hash of the settings that the source is asked with. */
  readonly settings: string;
  readonly signal: AbortSignal;
  readonly pace: SourcePace;
  readonly rests: Rests;
  readonly surroundings: Surroundings;
  readonly work: SourceWork;
  stretches: Readonly<Record<Errand, number>>;
  /** When the stretches were found; it means counting all items. */
  stretchedAt: number;
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
export function createRunner(parts: RunnerParts, collector: Collector, signal: AbortSignal) {
  const { state, now } = parts;
  const pace = createPace(collector, now);
  const { source, platform, baseUrl, credentials } = collector;
  const work = { source, observed: 0, failed: 0, observations: 0, requests: 0 };
  const running: Running = {
    ...parts,
    collector,
    settings: new Bun.CryptoHasher("sha256")
      .update(JSON.stringify([baseUrl, credentials]))
      .digest("hex"),
    signal,
    pace,
    rests: createRests(),
    surroundings: surroundingsOf(parts, collector, { signal, pace, work }),
    work,
    stretches: { profile: 1, items: 1, counts: 1 },
    stretchedAt: -Infinity,
    isStopped: false,
    failing: undefined,
  };
  return {
    /** Asks the source for what is due and what it lets itself be asked, for one turn. */
    takeTurn: (isPaced: boolean): Promise<void> => takeTurn(running, isPaced),

    /** When something is due again; `undefined` while nothing is. */
    nextDue: () => state.nextDue(platform),

    /** How the source is doing. */
    status: (): Promise<SourceStatus> => statusOf(running),
  };
}

function surroundingsOf(
  { state, now, report, client }: RunnerParts,
  collector: Collector,
  { signal, pace, work }: Pick<Running, "signal" | "pace" | "work">,
): Surroundings {
  const { source, platform } = collector;
  const { ask } = createClient({
    collector,
    now,
    signal,
    ...client,
    async take(bucket) {
      pace.take(bucket);
      const { unitsPerDay, zone } = bucketOf(collector, bucket);
      const limit = limitOf(unitsPerDay);
      const day = quotaDay(now(), zone);
      const isThere = await state.takeUnits({ source, bucket, day, units: 1, limit });
      if (isThere) work.requests++;
      return isThere;
    },
    onRetry: (reason) => report({ kind: "retried", source, reason }),
  });
  return {
    now,
    ask,
    async knownOf(ids) {
      const known = await state.knownItems(platform, ids);
      return new Map(known.map(({ id, memo }) => [id, memo]));
    },
  };
}

/**
 * What an errand works with that draws on a bucket. Whether that may be asked was found out before;
 * another one that it needs besides may be paused, or its window used up.
 */
function within({ collector, pace, surroundings, now }: Running, own: string): Surroundings {
  return {
    ...surroundings,
    async ask(question) {
      const { bucket } = question;
      if (bucket !== own) {
        const readyAt = pace.readyAt(bucket, false);
        if (readyAt > now()) throw exhausted(collector, bucket, readyAt);
      }
      return surroundings.ask(question);
    },
  };
}

/**
 * Goes round the errands until nothing of them is due, or the turn is over. None waits for all of
 * another: profiles are observed in time also while thousands of lists are read for the first time.
 */
async function takeTurn(running: Running, isPaced: boolean): Promise<void> {
  if ((await stopOf(running)) !== undefined) return;
  running.isStopped = false;
  const { collector, state, now } = running;
  if (Math.abs(now() - running.stretchedAt) >= STRETCHED_FOR_MS) {
    running.stretches = await stretchesOf(state, collector, now());
    running.stretchedAt = now();
  }
  const endsAt = isPaced ? now() + TURN_MS : Infinity;
  const open = new Set(ERRANDS);
  while (open.size > 0 && now() < endsAt) {
    for (const errand of open) {
      if (running.isStopped || running.signal.aborted) return;
      if (!(await runNext(running, errand, isPaced))) open.delete(errand);
      else if (isPaced) await rest(running);
    }
  }
}

/** Lets those who read go first. */
async function rest({ restMs = REST_BETWEEN_MS, signal }: Running): Promise<void> {
  if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
}

/** Runs an errand for what is due of it. @returns Whether there may be more to do of it. */
async function runNext(running: Running, errand: Errand, isPaced: boolean): Promise<boolean> {
  const { collector, pace, rests, state, takeIn, now, work } = running;
  const { batch, bucket } = collector.errands[errand];
  if (pace.readyAt(bucket, isPaced) > now()) return false;
  const until = now() + (batch > 1 ? LOOK_AHEAD_MS : 0);
  const targets = await state.due(collector.platform, errand, until, batch);
  const [first] = targets;
  if (first === undefined || first.dueAt > now()) return false;
  const stretchOf = (of: Errand) => running.stretches[of];
  const run = { collector, surroundings: within(running, bucket), state, takeIn, stretchOf };
  const result = await runErrand(run, errand, targets);
  work.observed += result.observed;
  work.failed += result.failed;
  work.observations += result.observations;
  const isNoneObserved = targets.length > 1 && result.observed === 0;
  if (result.failure !== undefined) {
    const { kind, message } = result.failure;
    const isFailing = kind === "failed" || (kind === "refused" && isNoneObserved);
    if (isFailing) noteFailing(running, message, targets.length);
    return goOnAfter(running, bucket, result.failure);
  }
  // One that fails fails alone; where all do, what the source tells has changed.
  if (result.doubt !== undefined && isNoneObserved) {
    const reason = `None of ${targets.length} could be observed: ${result.doubt}`;
    running.report({ kind: "failed", source: collector.source, reason });
    noteFailing(running, reason, targets.length);
  } else running.failing = undefined;
  rests.succeed();
  return true;
}

/** Notes why a source fails. It has been failing since the first failure after an answer. */
function noteFailing(running: Running, reason: string, targets: number): void {
  const { since = running.now(), targets: before = 0 } = running.failing ?? {};
  running.failing = { reason, since, targets: before + targets };
}

/** Deals with a source that could not be asked. @returns Whether the errand goes on. */
async function goOnAfter(
  running: Running,
  bucket: string,
  { kind, message: reason, until, bucket: waitedFor = bucket }: SourceFailure,
): Promise<boolean> {
  const { collector, settings, pace, rests, state, now, report, signal } = running;
  const { source } = collector;
  if (kind === "wait" && until !== undefined) {
    const isNew = pace.pausedUntil(waitedFor) === undefined;
    if (isNew && !signal.aborted) report({ kind: "paused", source, reason });
    pace.pause(waitedFor, until);
    return waitedFor !== bucket;
  }
  if (kind === "stop") {
    running.isStopped = true;
    running.failing = undefined;
    const stopped = { reason, since: now(), until: until ?? null };
    await state.stop(source, settings, stopped);
    report({ kind: "stopped", source, reason, until: stopped.until });
    return false;
  }
  report({ kind: "failed", source, reason });
  // It answered: what it would not tell says nothing of the rest.
  if (kind === "refused") return true;
  const restMs = rests.fail(bucket);
  if (restMs > 0) pace.pause(bucket, now() + restMs);
  return restMs === 0;
}

/** Why a source is stopped; one whose time has come goes on. */
async function stopOf(running: Running): Promise<StoppedSource | undefined> {
  const { collector, settings, state, now, report } = running;
  const { source } = collector;
  const stopped = await state.stopped(source, settings);
  if (stopped === undefined || stopped.until === null) return stopped;
  if (endOf({ from: stopped.since, until: stopped.until }, now()) !== undefined) return stopped;
  await state.goOn(source);
  report({ kind: "resumed", source });
  return undefined;
}

async function statusOf({ collector, settings, pace, work, state, now, failing }: Running) {
  const { source, buckets } = collector;
  return {
    source,
    work: { ...work },
    stopped: await state.stopped(source, settings),
    failing: failing === undefined || failing.targets === 1 ? undefined : failing,
    buckets: await Promise.all(
      Object.entries(buckets).map(async ([bucket, { unitsPerDay, zone }]) => ({
        bucket,
        used: await state.usedUnits(source, bucket, quotaDay(now(), zone)),
        limit: limitOf(unitsPerDay),
        pausedUntil: pace.pausedUntil(bucket),
      })),
    ),
  };
}
