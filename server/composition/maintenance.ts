/**
 * Computes the figures of lists after imports or for a command, and keeps the database small: folds
 * the journal daily, applies retention daily or on request. Reads what a diagnosis needs.
 */
import { ENTITY_KINDS } from "../../core/kinds.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { startLoop } from "../background-loop.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { checkIntegrity } from "../store/administration/check-integrity.ts";
import { readFacts } from "../store/administration/facts.ts";
import { foldJournal } from "../store/accounts/fold-journal.ts";
import { parseFileUrl } from "../store/database/open-database.ts";
import { refreshFigures } from "../store/figures/refresh.ts";
import { applyRetention, type RetentionReport } from "../store/history/retention.ts";
import type { Databases } from "./databases.ts";
import { startFigures } from "./figures.ts";
import type { createImporters } from "./imports.ts";

/** The pause after a step, as a multiple of the step's time: background runs pause longer. */
const COMMAND_PAUSE_RATIO = 1;
const BACKGROUND_PAUSE_RATIO = 9;

export function createMaintenance(
  { retention: policy, journalDays: days, databaseUrl }: Config,
  databases: Pick<Databases, "ledger" | "entities">,
  {
    counts: { countRunning },
    changes,
  }: Pick<ReturnType<typeof createImporters>, "counts" | "changes">,
  now: () => number,
  log: ServiceLogger,
) {
  const { ledger, entities } = databases;
  const kinds = ENTITY_KINDS.filter((kind) => policy[kind] !== undefined);
  const background = { pauseRatio: BACKGROUND_PAUSE_RATIO };
  /** Whether no other process changes the database. */
  const isSole = parseFileUrl(databaseUrl) !== undefined;

  /** Applies the policy. Each step makes figures stale. */
  async function* applyPolicy(
    options: Omit<Parameters<typeof applyRetention>[1], "policy" | "now">,
  ): ReturnType<typeof applyRetention> {
    const run = applyRetention(entities, { ...options, policy, now: now() });
    for (;;) {
      const step = await run.next().finally(changes.notify);
      if (step.done === true) return step.value;
      yield step.value;
    }
  }

  return {
    async *applyRetention({ isDryRun }: { readonly isDryRun: boolean }) {
      try {
        return yield* applyPolicy({ isDryRun, pauseRatio: COMMAND_PAUSE_RATIO });
      } catch (error) {
        // The response has begun, so the client only sees that it breaks off.
        log.backgroundFailure?.(error, "Retention");
        throw error;
      }
    },

    /** Computes all stale figures of lists, without pauses: a command waits for them. */
    async refreshFigures(): Promise<void> {
      for await (const _ of refreshFigures(entities));
    },

    /** Reads what a diagnosis needs. */
    readFacts: () => readFacts(databases),

    /** Reads all pages, in the background. @throws {Error} With the first damage. */
    async checkIntegrity(): Promise<void> {
      for (const database of new Set([ledger, entities])) await checkIntegrity(database);
    },

    startInBackground() {
      const stopFigures = startFigures(
        entities,
        { isImporting: () => countRunning() > 0, changes: isSole ? changes : undefined },
        log,
      );
      const stopDaily = startMaintenance(
        {
          foldJournal: () => foldJournal(ledger, { ...background, days, now: now() }),
          applyRetention: () => applyPolicy({ ...background, kinds, isDryRun: false }),
          hasRetention: kinds.length > 0,
        },
        log,
      );
      return async () => void (await Promise.all([stopFigures(), stopDaily()]));
    },
  };
}

/** The delay of the first run: right after its start, a service is busy. */
const INITIAL_DELAY_MS = 5 * MINUTE_MS;

/** A run yields after each step, and returns its report. */
type Run<Report> = () => AsyncGenerator<unknown, Report>;

/** Starts the daily work. @returns Stops it, and resolves once the current steps are done. */
export function startMaintenance(
  work: {
    readonly foldJournal: Run<number>;
    readonly applyRetention: Run<RetentionReport>;
    readonly hasRetention: boolean;
  },
  log: ServiceLogger,
  initialDelayMs = INITIAL_DELAY_MS,
): () => Promise<void> {
  const stopFolding = startDailyRun({
    initialDelayMs,
    run: work.foldJournal,
    onDone(entries) {
      if (entries > 0) log.info?.("Folded {entries} old entries of the journal", { entries });
    },
    onFailure: (error) => log.backgroundFailure?.(error, "Folding the journal"),
  });
  if (!work.hasRetention) return stopFolding;
  const onFailure = (error: unknown) => log.backgroundFailure?.(error, "Retention");
  const stopRetention = startDailyRun({
    initialDelayMs,
    run: work.applyRetention,
    onDone({ kinds, faults }) {
      for (const { kind, problem } of faults) {
        onFailure(new Error(`Retention of ${kind}: ${problem}`));
      }
      for (const { kind, rule, before, removed } of kinds) {
        const values = { kind, rule, before, removed };
        log.info?.("Retention of {kind} ({rule}) removed {removed} of {before}", values);
      }
    },
    onFailure,
  });
  return async () => void (await Promise.all([stopFolding(), stopRetention()]));
}

/** Starts daily runs: each begins a day after the last run ended, whether or not that failed. */
function startDailyRun<Report>({
  run,
  onDone,
  ...options
}: Pick<Parameters<typeof startLoop>[0], "initialDelayMs" | "onFailure"> & {
  readonly run: Run<Report>;
  readonly onDone: (report: Report) => void;
}): () => Promise<void> {
  return startLoop({
    ...options,
    intervalMs: DAY_MS,
    async run(signal) {
      const steps = run();
      let step = await steps.next();
      while (step.done !== true) {
        if (signal.aborted) return;
        step = await steps.next();
      }
      onDone(step.value);
    },
  });
}
