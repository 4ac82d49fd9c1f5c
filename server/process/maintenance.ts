/**
 * Maintains the database while a service runs: applies retention and folds the journal, in small
 * steps, some minutes after the start and then daily.
 */
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { startLoop } from "../background-loop.ts";
import type { Config } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import type { Service } from "../service.ts";

/**
 * Starts the daily work.
 *
 * @param initialDelayMs When the first run starts.
 * @returns Stops it, and resolves once the current steps are done.
 */
export function startMaintenance(
  { retention }: Pick<Config, "retention">,
  service: Pick<Service, "applyRetention" | "foldJournal">,
  log: ServiceLogger,
  initialDelayMs?: number,
): () => Promise<void> {
  const delay = initialDelayMs === undefined ? {} : { initialDelayMs };
  const stopFolding = startFolding(service, log, delay);
  const hasPolicy = Object.keys(retention).length > 0;
  const stopRetention = hasPolicy ? startRetention(service, log, delay) : undefined;
  return async () => void (await Promise.all([stopFolding(), stopRetention?.()]));
}

interface Delay {
  readonly initialDelayMs?: number;
}

function startFolding(
  { foldJournal }: Pick<Service, "foldJournal">,
  log: ServiceLogger,
  delay: Delay,
) {
  return startDailyRun({
    ...delay,
    run: foldJournal,
    onDone(entries) {
      if (entries > 0) log.info?.("Folded {entries} old entries of the journal", { entries });
    },
    onFailure: (error) => log.backgroundFailure?.(error, "Folding the journal"),
  });
}

function startRetention(
  { applyRetention }: Pick<Service, "applyRetention">,
  log: ServiceLogger,
  delay: Delay,
) {
  const onFailure = (error: unknown) => log.backgroundFailure?.(error, "Retention");
  return startDailyRun({
    ...delay,
    run: applyRetention,
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
}

/** The options of {@link startDailyRun}. */
export interface DailyRunOptions<Report> {
  /** Starts a run: yields after each step, returns the report. */
  run(): AsyncGenerator<unknown, Report>;
  /** Receives the report of a run that finished. */
  onDone(report: Report): void;
  /** Receives the error of a run; the next run takes place all the same. */
  onFailure(error: unknown): void;
  /** When the first run starts; 5 minutes by default. */
  readonly initialDelayMs?: number;
}

/** Not right after the start, when a service is busy. */
const INITIAL_DELAY_MS = 5 * MINUTE_MS;

/**
 * Starts daily runs: each a day after the end of the one before.
 *
 * @returns Stops them, and resolves once the current step is done.
 */
export function startDailyRun<Report>({
  run,
  onDone,
  onFailure,
  initialDelayMs = INITIAL_DELAY_MS,
}: DailyRunOptions<Report>): () => Promise<void> {
  return startLoop({
    async run(signal) {
      const steps = run();
      let step = await steps.next();
      while (step.done !== true) {
        if (signal.aborted) return;
        step = await steps.next();
      }
      onDone(step.value);
    },
    intervalMs: DAY_MS,
    initialDelayMs,
    onFailure,
  });
}
