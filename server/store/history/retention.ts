/**
 * Retention, applied: a walk through all observations in steps of a few milliseconds with rests
 * between, and the proof that it removed what it says and nothing of any newest state.
 *
 * Nothing is remembered between walks: each finds what is still to do.
 */
import { ENTITY_KINDS, type EntityKind } from "../../../core/entity-kinds.ts";
import {
  formatRetentionRule,
  retentionBounds,
  type RetentionBounds,
  type RetentionPolicy,
} from "../../../core/retention.ts";
import { readLastSequence } from "./change-log.ts";
import type { Database } from "../database/database.ts";
import { createRetentionSteps, MIN_POSITION, type ChunkRange } from "./retention-steps.ts";
import type {
  KindRetentionReport,
  RetentionFault,
  RetentionMode,
  RetentionReport,
} from "../../ports/retention.ts";

/** How a policy is applied. */
export interface RetentionOptions {
  readonly policy: RetentionPolicy;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  readonly mode: RetentionMode;
  /** How many times as long as a step it rests after it, so that others have the database. */
  readonly pauseRatio: number;
}

/** The longest rest between two steps. */
const PAUSE_MAX_MS = 100;

/** What a look at all of a kind found. */
interface KindSummary {
  readonly entities: number;
  readonly rows: number;
  readonly digest: string;
}

/** What a walk through a kind found and did. */
interface PruneTotals {
  entities: number;
  found: number;
  removed: number;
  left: number;
  changeCount: number;
  isStateUntouched: boolean;
}

/**
 * Applies a policy. It goes on step by step as it is asked, and can be left after any.
 *
 * @returns Yields the number of observations of each step; returns the report.
 */
export async function* applyRetention(
  database: Database,
  options: RetentionOptions,
): AsyncGenerator<number, RetentionReport> {
  const { policy, now, mode, pauseRatio } = options;
  const isProof = mode === "prove";
  const kinds = ENTITY_KINDS.filter((kind) => mode !== "apply" || policy[kind] !== undefined);
  const summarizedKinds = isProof ? kinds : [];
  const sequence = await readLastSequence(database);
  const before = new Map<EntityKind, KindSummary>();
  for (const kind of summarizedKinds)
    before.set(kind, yield* summarizeKind(database, kind, pauseRatio));
  const totalsByKind = new Map<EntityKind, PruneTotals>();
  for (const kind of kinds) {
    const rule = policy[kind];
    const bounds = rule === undefined ? undefined : retentionBounds(rule, now);
    totalsByKind.set(kind, yield* pruneKind(database, kind, bounds, options));
  }
  const after = new Map<EntityKind, KindSummary>();
  for (const kind of summarizedKinds)
    after.set(kind, yield* summarizeKind(database, kind, pauseRatio));
  const changeCount = totalsByKind.values().reduce((sum, walked) => sum + walked.changeCount, 0);
  const isWholeCompared = isProof && (await readLastSequence(database)) === sequence + changeCount;
  const faults: RetentionFault[] = [];
  const report: KindRetentionReport[] = [];
  for (const [kind, walked] of totalsByKind) {
    const [summaryBefore, summaryAfter] = [before.get(kind), after.get(kind)];
    const problems = [
      ...findStepProblems(walked),
      ...(isWholeCompared && summaryBefore !== undefined && summaryAfter !== undefined
        ? findOverallProblems(walked, summaryBefore, summaryAfter)
        : []),
    ];
    faults.push(...problems.map((problem) => ({ kind, problem })));
    report.push({
      kind,
      rule: formatRetentionRule(policy[kind]),
      entities: walked.entities,
      before: walked.found,
      removed: walked.removed,
      after: walked.left,
      stateBefore: summaryBefore?.digest ?? null,
      stateAfter: summaryAfter?.digest ?? null,
    });
  }
  return { mode, kinds: report, isWholeCompared, faults };
}

/** What does not hold of the steps, each within its transaction. */
function findStepProblems({ found, removed, left, isStateUntouched }: PruneTotals): string[] {
  const problems: string[] = [];
  if (found !== removed + left) {
    problems.push(`its steps found ${found} observations, removed ${removed} and left ${left}`);
  }
  if (!isStateUntouched) problems.push("a step changed a newest state");
  return problems;
}

/** What does not hold of the whole when nobody else wrote. */
function findOverallProblems(
  { removed }: PruneTotals,
  summaryBefore: KindSummary,
  summaryAfter: KindSummary,
): string[] {
  const problems: string[] = [];
  if (summaryBefore.rows !== removed + summaryAfter.rows) {
    problems.push(
      `there were ${summaryBefore.rows} observations, ${removed} removed, there are ${summaryAfter.rows}`,
    );
  }
  if (
    summaryBefore.entities !== summaryAfter.entities ||
    summaryBefore.digest !== summaryAfter.digest
  ) {
    problems.push(
      `the newest state of ${summaryBefore.entities} entities was ${summaryBefore.digest}, ` +
        `of ${summaryAfter.entities} it is ${summaryAfter.digest}`,
    );
  }
  return problems;
}

/** Counts every observation and looks at every newest state of a kind, and changes nothing. */
async function* summarizeKind(
  database: Database,
  kind: EntityKind,
  pauseRatio: number,
): AsyncGenerator<number, KindSummary> {
  const steps = createRetentionSteps(database, kind);
  const hasher = new Bun.CryptoHasher("sha256");
  const totals = { entities: 0, rows: 0 };
  for await (const range of scanRanges(steps, pauseRatio)) {
    const keys = listNewKeys(range);
    if (keys.length > 0) hasher.update(`${await steps.readState(keys)}\n`);
    totals.entities += keys.length;
    totals.rows += range.observationCount;
    yield range.observationCount;
  }
  return { ...totals, digest: hasher.digest("hex") };
}

/** Walks through a kind and removes, or counts, what the bounds leave out. */
async function* pruneKind(
  database: Database,
  kind: EntityKind,
  bounds: RetentionBounds | undefined,
  { mode, pauseRatio }: RetentionOptions,
): AsyncGenerator<number, PruneTotals> {
  const steps = createRetentionSteps(database, kind);
  const totals = {
    entities: 0,
    found: 0,
    removed: 0,
    left: 0,
    changeCount: 0,
    isStateUntouched: true,
  };
  for await (const range of scanRanges(steps, pauseRatio)) {
    const { observationCount: rows, earliestInstant: earliest } = range;
    let done = { found: rows, removed: 0, left: rows, told: 0, isStateUntouched: true };
    if (bounds !== undefined && earliest < bounds.rawFrom) {
      const removable = await steps.countRemovable(range, bounds);
      if (mode === "count") done = { ...done, removed: removable, left: rows - removable };
      else if (removable > 0) done = await steps.prune(range, bounds);
    }
    totals.entities += listNewKeys(range).length;
    totals.found += done.found;
    totals.removed += done.removed;
    totals.left += done.left;
    totals.changeCount += done.told;
    totals.isStateUntouched &&= done.isStateUntouched;
    yield done.found;
  }
  return totals;
}

/** All stretches of a kind, one after another with rests, up to what is the last at the start. */
async function* scanRanges(
  { findNextRange: find, findLastPosition: last }: ReturnType<typeof createRetentionSteps>,
  pauseRatio: number,
): AsyncGenerator<ChunkRange, void> {
  const upTo = await last();
  if (upTo === undefined) return;
  let startedAt = performance.now();
  let range = await find(MIN_POSITION, upTo);
  while (range !== undefined) {
    yield range;
    const tookMs = performance.now() - startedAt;
    await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * tookMs));
    startedAt = performance.now();
    range = await find(range.to, upTo);
  }
}

/** The entities of a stretch that the one before it did not end in. */
function listNewKeys({ keys, from }: ChunkRange): readonly number[] {
  return keys.filter((key) => key !== from[0]);
}
