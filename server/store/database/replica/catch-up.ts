/** Brings a replica up to date, but only when a read needs a newer state than it has. */
import { setTimeout as sleep } from "node:timers/promises";
import pTimeout from "p-timeout";
import type { DatabaseReads } from "../database.ts";

/** A copy of a database, and what brings it up to date. */
export interface ReplicaSource {
  /** Reads the copy as it is now. They reject while there is none. */
  readonly reads: DatabaseReads;
  /** Makes the copy newer, if it can be; rejects after a failure. */
  advance(): Promise<void>;
  /** Makes the copy anew, because it is not one of the database. */
  discard(): void;
  close(): Promise<void>;
}

interface CatchUpOptions {
  /** The number of the last change in a copy, as SQL of a JSON value; null if it has another database. */
  readonly selectSequence: string;
  /** The change that the copy should have. */
  getNeeded(): number;
  /** Called with the reason when reads need the primary, without one when they don't any more. */
  readonly onAvailabilityChange?: ((failure: unknown) => void) | undefined;
}

/** How long a read waits until the copy has a change. Usually, that takes 5 to 10 ms. */
const WAIT_MS = 50;

/** The first and the longest delay of the next attempt: after one that did not help, and a failure. */
const UNHELPFUL_DELAYS = { firstMs: 5, maxMs: 250 };
const FAILURE_DELAYS = { firstMs: 100, maxMs: 2000 };

/** For how long a copy is behind until that is logged: a busy one often is for milliseconds. */
const BEHIND_MS = 2000;

export function createCatchUp(source: ReplicaSource, options: CatchUpOptions) {
  const { selectSequence, getNeeded, onAvailabilityChange } = options;
  const stop = new AbortController();
  /** The last change that the copy is known to have. */
  let known = Number.NEGATIVE_INFINITY;
  /** The change for which a read waited in vain: until the copy has it, no other read waits. */
  let missed: number | undefined;
  let isRunning = false;
  const waiting = createWaitingList();
  const { getFailure, setFailure } = createFailureState(onAvailabilityChange);

  function setKnown(sequence: number): void {
    known = sequence;
    if (missed !== undefined && known >= missed) missed = undefined;
    waiting.resolveUntil(known);
  }

  async function run(): Promise<void> {
    let behindSince = performance.now();
    let attempts = 0;
    while (!stop.signal.aborted) {
      const needed = getNeeded();
      let delays = UNHELPFUL_DELAYS;
      try {
        await source.advance();
        setKnown(await readSequence(source, selectSequence));
        if (known >= needed) {
          setFailure(undefined);
          isRunning = !waiting.isEmpty() || missed !== undefined;
          if (!isRunning) return;
          // Meanwhile, a read came that needs a later change.
          behindSince = performance.now();
          attempts = 0;
          continue;
        }
        if (performance.now() - behindSince > BEHIND_MS) setFailure(new Error("It is far behind"));
      } catch (error) {
        if (stop.signal.aborted) return;
        known = Number.NEGATIVE_INFINITY;
        setFailure(error);
        delays = FAILURE_DELAYS;
      }
      const delayMs = Math.min(delays.maxMs, delays.firstMs * 2 ** attempts++);
      await sleep(delayMs, undefined, { ref: false });
    }
  }

  function start(): void {
    if (!isRunning) void run();
    isRunning = true;
  }

  return {
    start,
    stop: () => stop.abort(),

    /** Why reads take the primary; `undefined` if they need not. */
    getFailure,

    /** Whether the copy is known to have a change. */
    has: (sequence: number): boolean => known >= sequence,

    /** Resolves to whether the copy has a change: at once if it has, else after a short wait. */
    async waitUntilHas(needed: number): Promise<boolean> {
      if (known >= needed) return true;
      start();
      if (missed !== undefined || stop.signal.aborted) return false;
      const wait = waiting.add(needed);
      await pTimeout(wait, { milliseconds: WAIT_MS, fallback: () => undefined });
      if (known < needed) missed = Math.max(needed, missed ?? needed);
      return known >= needed;
    },

    /** Takes the last change that a read found, which needed another one. */
    setSequence(found: number, needed: number): void {
      // Reads that were sent together may end in another order.
      setKnown(found >= needed ? Math.max(known, found) : found);
    },

    /** Lets no read take the copy, for a reason, until an attempt shows that it has a change. */
    suspect(needed: number, reason = getFailure()): void {
      setFailure(reason);
      known = Number.NEGATIVE_INFINITY;
      missed = Math.max(needed, missed ?? needed);
      start();
    },
  };
}

export async function readSequence(
  { reads }: ReplicaSource,
  selectSequence: string,
): Promise<number> {
  const sequence = await reads.queryJson<number | null>(selectSequence, []);
  if (sequence === null) throw new Error("It is a copy of another database");
  return sequence ?? 0;
}

/** Keeps the failure of the last attempt, and reports the first of several, and their end. */
function createFailureState(report: CatchUpOptions["onAvailabilityChange"]) {
  let failure: unknown;
  return {
    getFailure: () => failure,
    setFailure(latest: unknown): void {
      const isChange = (failure === undefined) !== (latest === undefined);
      failure = latest;
      if (isChange) report?.(latest);
    },
  };
}

/** Reads that wait for changes. One that has given up stays until its change is there. */
function createWaitingList() {
  let entries: { readonly needed: number; readonly resolve: () => void }[] = [];
  return {
    isEmpty: () => entries.length === 0,

    add(needed: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      entries.push({ needed, resolve });
      return promise;
    },

    resolveUntil(sequence: number): void {
      for (const { needed, resolve } of entries) if (sequence >= needed) resolve();
      entries = entries.filter(({ needed }) => sequence < needed);
    },
  };
}
