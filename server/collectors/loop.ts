/**
 * The loop: asks every source for what is due, within its quota and at its pace, and goes on where
 * it was after a stop of any length.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Errand, ERRANDS, type StoppedSource } from "../../core/collection.ts";
import { quotaDay } from "../../core/quota.ts";
import { LOOK_AHEAD_MS } from "../../core/schedule.ts";
import { bucketOf, limitOf, stretchesOf } from "./budget.ts";
import { createClient } from "./client.ts";
import { runErrand, type TakeIn } from "./errand.ts";
import { createPace, type SourcePace } from "./pace.ts";
import { SourceFailure, type Collector, type Source, type Surroundings } from "./port.ts";
import type { CollectionState } from "./state.ts";

/** How long the stretches of a source are good for. */
const STRETCHED_FOR_MS = 10 * 60_000;

/** How long the loop rests between two errands of a source. */
const REST_BETWEEN_MS = 100;

/** So many errands may fail one after the other before a source is left alone, for so long. */
const FAILURES_MAX = 3;
const REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;

/** What the loop tells of itself. The sentences never hold a credential. */
export type LoopEvent =
  | { readonly kind: "stopped" | "paused"; readonly source: Source; readonly reason: string }
  | { readonly kind: "failed" | "retried"; readonly source: Source; readonly reason: string }
  | { readonly kind: "resumed"; readonly source: Source };

/** What the loop works with. */
export interface LoopParts {
  readonly collectors: readonly Collector[];
  readonly state: CollectionState;
  readonly takeIn: TakeIn;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  report(event: LoopEvent): void;
  /** Milliseconds between two errands of a source, 100 unless told. */
  readonly restMs?: number;
  /** How an answer is waited for; see the client. */
  readonly client?: { readonly timeoutMs?: number; readonly retryMinMs?: number };
}

/** What was done for a source. */
export interface SourceWork {
  readonly source: Source;
  observed: number;
  failed: number;
  observations: number;
  requests: number;
}

/** How a source is doing. Instants are milliseconds since 1970 UTC. */
export interface SourceStatus {
  readonly source: Source;
  /** Since the process started. */
  readonly work: Readonly<SourceWork>;
  readonly stopped: StoppedSource | undefined;
  /** By bucket: what is used of the quota day, and what may be. */
  readonly buckets: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
    readonly pausedUntil: number | undefined;
  }[];
}

/** A source with what the loop keeps of it while it runs. */
interface Runner {
  readonly collector: Collector;
  readonly settings: string;
  readonly pace: SourcePace;
  readonly surroundings: Surroundings;
  readonly work: SourceWork;
  stretches: Readonly<Partial<Record<Errand, number>>>;
  /** When the stretches were found; it means counting all items. */
  stretchedAt: number;
  /** Errands that failed one after the other. */
  failures: number;
  /** Whether it was stopped in this turn: nothing more is asked of it. */
  isStopped: boolean;
}

/** Collects. */
export type Loop = ReturnType<typeof createLoop>;

/** Makes the loop. */
export function createLoop(parts: LoopParts) {
  const { state, now, report } = parts;
  const ending = new AbortController();
  const runners = parts.collectors.map((collector) =>
    createRunner(parts, collector, ending.signal),
  );
  let last: Promise<unknown> = Promise.resolve();

  async function collect(isPaced: boolean): Promise<void> {
    await state.followLists(now());
    await Promise.all(runners.map((runner) => work(runner, isPaced)));
  }

  /** Lets those who read go first. */
  async function rest(): Promise<void> {
    const { restMs = REST_BETWEEN_MS } = parts;
    const { signal } = ending;
    if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }

  /** Asks a source for all that is due and that it lets itself be asked. */
  async function work(runner: Runner, isPaced: boolean): Promise<void> {
    if ((await stopOf(runner)) !== undefined) return;
    runner.isStopped = false;
    if (now() - runner.stretchedAt >= STRETCHED_FOR_MS) {
      runner.stretches = await stretchesOf(state, runner.collector, now());
      runner.stretchedAt = now();
    }
    for (const errand of ERRANDS) {
      let mayBeMore = true;
      while (mayBeMore && !runner.isStopped && !ending.signal.aborted) {
        mayBeMore = await workOnce(runner, errand, isPaced);
        if (mayBeMore && isPaced) await rest();
      }
    }
  }

  /** @returns Whether there may be more to do of the errand. */
  async function workOnce(runner: Runner, errand: Errand, isPaced: boolean): Promise<boolean> {
    const { collector, pace, surroundings } = runner;
    const { batch, bucket } = collector.errands[errand];
    const readyAt = isPaced ? pace.readyAt(bucket) : (pace.pausedUntil(bucket) ?? 0);
    if (readyAt > now()) return false;
    const until = now() + (batch > 1 ? LOOK_AHEAD_MS : 0);
    const targets = await state.due(collector.platform, errand, until, batch);
    const [first] = targets;
    if (first === undefined || first.dueAt > now()) return false;
    const { takeIn } = parts;
    const stretchOf = (of: Errand) => runner.stretches[of] ?? 1;
    const run = { collector, surroundings, state, takeIn, stretchOf };
    const result = await runErrand(run, errand, targets);
    runner.work.observed += result.observed;
    runner.work.failed += result.failed;
    runner.work.observations += result.observations;
    if (result.failure !== undefined) return goOnAfter(runner, bucket, result.failure);
    runner.failures = 0;
    return true;
  }

  /** Deals with a source that could not be asked. @returns Whether the errand goes on. */
  async function goOnAfter(
    runner: Runner,
    bucket: string,
    { kind, message: reason, until, bucket: waitedFor = bucket }: SourceFailure,
  ): Promise<boolean> {
    const { collector, settings, pace } = runner;
    const { source } = collector;
    if (kind === "wait" && until !== undefined) {
      if (!ending.signal.aborted) report({ kind: "paused", source, reason });
      pace.pause(waitedFor, until);
      return false;
    }
    if (kind === "stop") {
      runner.isStopped = true;
      await state.stop(source, settings, { reason, since: now(), until: until ?? null });
      report({ kind: "stopped", source, reason });
      return false;
    }
    report({ kind: "failed", source, reason });
    // A source that fails whatever it is asked is left alone for longer and longer.
    const further = ++runner.failures - FAILURES_MAX;
    if (further < 0) return true;
    pace.pause(bucket, now() + Math.min(REST_MS * 2 ** further, LONGEST_REST_MS));
    return false;
  }

  /** Why a source is stopped; one whose time has come goes on. */
  async function stopOf({ collector, settings }: Runner): Promise<StoppedSource | undefined> {
    const stopped = await state.stopped(collector.source, settings);
    if (stopped === undefined || stopped.until === null || stopped.until > now()) return stopped;
    await state.goOn(collector.source);
    report({ kind: "resumed", source: collector.source });
    return undefined;
  }

  return {
    /**
     * Collects once what is due. Who asks meanwhile waits for the turn before.
     *
     * @param isPaced Whether it leaves what the pace does not allow now for later.
     */
    collect(isPaced = true): Promise<void> {
      const next = last.then(() => collect(isPaced));
      last = next.catch(() => undefined);
      return next;
    },

    /** When there is something to do again; `undefined` while there is nothing. */
    async wakeAt(): Promise<number | undefined> {
      const instants = await Promise.all(
        runners.map(({ collector }) => state.nextDue(collector.platform)),
      );
      const due = instants.filter((instant) => instant !== undefined);
      return due.length === 0 ? undefined : Math.min(...due);
    },

    /** How the sources are doing. */
    status: (): Promise<SourceStatus[]> =>
      Promise.all(runners.map((runner) => statusOf(state, runner, now()))),

    /** Ends the errand that is under way, and begins no further one. */
    end(): void {
      ending.abort();
    },
  };
}

function createRunner(
  { state, now, report, client }: LoopParts,
  collector: Collector,
  signal: AbortSignal,
): Runner {
  const { source, platform, credentials, baseUrl } = collector;
  const pace = createPace(collector, now);
  const work = { source, observed: 0, failed: 0, observations: 0, requests: 0 };
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
    collector,
    settings: new Bun.CryptoHasher("sha256")
      .update(JSON.stringify([baseUrl, credentials]))
      .digest("hex"),
    pace,
    surroundings: {
      now,
      ask,
      knownOf: async (ids) => {
        const known = await state.knownItems(platform, ids);
        return new Set(known.map(({ id }) => id));
      },
    },
    work,
    stretches: {},
    stretchedAt: -Infinity,
    failures: 0,
    isStopped: false,
  };
}

async function statusOf(
  state: CollectionState,
  { collector, settings, pace, work }: Runner,
  now: number,
): Promise<SourceStatus> {
  const { source, buckets } = collector;
  return {
    source,
    work: { ...work },
    stopped: await state.stopped(source, settings),
    buckets: await Promise.all(
      Object.entries(buckets).map(async ([bucket, { unitsPerDay, zone }]) => ({
        bucket,
        used: await state.usedUnits(source, bucket, quotaDay(now, zone)),
        limit: limitOf(unitsPerDay),
        pausedUntil: pace.pausedUntil(bucket),
      })),
    ),
  };
}
