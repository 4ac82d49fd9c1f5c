/**
 * Applies the retention policy: walks through all observations in steps of a few milliseconds with
 * pauses between, and proves each step. Nothing is remembered between walks, so one that was ended
 * is simply started again.
 */
import { ENTITY_KINDS, type EntityKind } from "../../../core/entity-kinds.ts";
import {
  formatRetentionRule,
  retentionBounds,
  type RetentionPolicy,
} from "../../../core/retention.ts";
import type { KindRetentionReport, RetentionFault, RetentionRun } from "../../ports/retention.ts";
import type { Database } from "../database/database.ts";
import {
  createRetentionSteps,
  FIRST_POSITION,
  type ChunkRange,
  type RetentionSteps,
} from "./retention-steps.ts";

/** How a policy is applied. */
export interface RetentionOptions {
  readonly policy: RetentionPolicy;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  /** Whether it only counts what it would remove. */
  readonly isDryRun: boolean;
  /** The pause after a step, as a multiple of the time that the step took. */
  readonly pauseRatio: number;
  /** The kinds that are walked through; all if left out. */
  readonly kinds?: readonly EntityKind[];
}

const PAUSE_MAX_MS = 100;

/**
 * Applies a policy. The caller drives it, and can stop after any step.
 *
 * @returns Yields the number of observations of each step; returns the report.
 */
export async function* applyRetention(database: Database, options: RetentionOptions): RetentionRun {
  const kinds: KindRetentionReport[] = [];
  const faults: RetentionFault[] = [];
  for (const kind of options.kinds ?? ENTITY_KINDS) {
    const { report, isStateUntouched } = yield* pruneKind(database, kind, options);
    kinds.push(report);
    const { before, removed, after } = report;
    if (before !== removed + after) {
      const problem = `its steps found ${before} observations, removed ${removed} and left ${after}`;
      faults.push({ kind, problem });
    }
    if (!isStateUntouched) faults.push({ kind, problem: "a step changed a newest state" });
  }
  return { isDryRun: options.isDryRun, kinds, faults };
}

/** Walks through a kind and removes, or counts, what its rule doesn't keep. */
async function* pruneKind(
  database: Database,
  kind: EntityKind,
  { policy, now, isDryRun, pauseRatio }: RetentionOptions,
): AsyncGenerator<number, { report: KindRetentionReport; isStateUntouched: boolean }> {
  const rule = policy[kind];
  const bounds = rule === undefined ? undefined : retentionBounds(rule, now);
  const steps = createRetentionSteps(database, kind);
  const totals = { entities: 0, before: 0, removed: 0, after: 0 };
  let isStateUntouched = true;
  for await (const range of scanRanges(steps, pauseRatio)) {
    const { observationCount: found, earliestInstant, keys, from } = range;
    let result = { found, removed: 0, left: found, isStateUntouched: true };
    if (bounds !== undefined && earliestInstant < bounds.rawFrom) {
      const removed = await steps.countRemovable(range, bounds);
      if (isDryRun) result = { ...result, removed, left: found - removed };
      else if (removed > 0) result = await steps.prune(range, bounds);
    }
    // The range before can end within the history of the first entity of this one.
    totals.entities += keys.filter((key) => key !== from.key).length;
    totals.before += result.found;
    totals.removed += result.removed;
    totals.after += result.left;
    isStateUntouched &&= result.isStateUntouched;
    yield result.found;
  }
  return { report: { kind, rule: formatRetentionRule(rule), ...totals }, isStateUntouched };
}

/** Yields the ranges of a kind, with pauses, up to the chunk that is the last one at the start. */
async function* scanRanges(
  { findNextRange, findLastPosition }: RetentionSteps,
  pauseRatio: number,
): AsyncGenerator<ChunkRange, void> {
  const end = await findLastPosition();
  if (end === undefined) return;
  let startedAt = performance.now();
  let range = await findNextRange(FIRST_POSITION, end);
  while (range !== undefined) {
    yield range;
    const tookMs = performance.now() - startedAt;
    await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * tookMs));
    startedAt = performance.now();
    range = await findNextRange(range.to, end);
  }
}
