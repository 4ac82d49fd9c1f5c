/**
 * Retention, applied: a walk through all observations in steps of a few milliseconds with rests
 * between, and the proof that it removed what it says and nothing of any newest state.
 *
 * Nothing is remembered between walks: each finds what is still to do.
 */
import { KIND_NAMES, type Kind } from "../../core/kinds.ts";
import {
  formatRetentionRule,
  retentionBounds,
  type KindRetention,
  type RetentionBounds,
  type RetentionFault,
  type RetentionMode,
  type RetentionPolicy,
  type RetentionReport,
} from "../../core/retention.ts";
import { lastChange } from "./changes.ts";
import type { Database } from "./database.ts";
import { retentionSteps, START, type Stretch } from "./retention-steps.ts";

/** How a policy is applied. */
export interface RetentionOptions {
  readonly policy: RetentionPolicy;
  /** Milliseconds since 1970 UTC. */
  readonly now: number;
  readonly mode: RetentionMode;
  /** How many times as long as a step it rests after it, so that others have the database. */
  readonly restRatio: number;
}

/** The longest rest between two steps. */
const REST_MAX_MS = 100;

/** What a look at all of a kind found. */
interface Survey {
  readonly entities: number;
  readonly rows: number;
  readonly digest: string;
}

/** What a walk through a kind found and did. */
interface Walk {
  entities: number;
  found: number;
  removed: number;
  left: number;
  told: number;
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
  const { policy, now, mode, restRatio } = options;
  const isProven = mode === "prove";
  const kinds = KIND_NAMES.filter((kind) => mode !== "apply" || policy[kind] !== undefined);
  const looked = isProven ? kinds : [];
  const sequence = await lastChange(database);
  const before = new Map<Kind, Survey>();
  for (const kind of looked) before.set(kind, yield* survey(database, kind, restRatio));
  const walks = new Map<Kind, Walk>();
  for (const kind of kinds) {
    const rule = policy[kind];
    const bounds = rule === undefined ? undefined : retentionBounds(rule, now);
    walks.set(kind, yield* walk(database, kind, bounds, options));
  }
  const after = new Map<Kind, Survey>();
  for (const kind of looked) after.set(kind, yield* survey(database, kind, restRatio));
  const told = walks.values().reduce((sum, walked) => sum + walked.told, 0);
  const isWholeCompared = isProven && (await lastChange(database)) === sequence + told;
  const faults: RetentionFault[] = [];
  const report: KindRetention[] = [];
  for (const [kind, walked] of walks) {
    const [was, is] = [before.get(kind), after.get(kind)];
    const problems = [
      ...problemsOf(walked),
      ...(isWholeCompared && was !== undefined && is !== undefined
        ? wholeProblemsOf(walked, was, is)
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
      stateBefore: was?.digest ?? null,
      stateAfter: is?.digest ?? null,
    });
  }
  return { mode, kinds: report, isWholeCompared, faults };
}

/** What does not hold of the steps, each within its transaction. */
function problemsOf({ found, removed, left, isStateUntouched }: Walk): string[] {
  const problems: string[] = [];
  if (found !== removed + left) {
    problems.push(`its steps found ${found} observations, removed ${removed} and left ${left}`);
  }
  if (!isStateUntouched) problems.push("a step changed a newest state");
  return problems;
}

/** What does not hold of the whole when nobody else wrote. */
function wholeProblemsOf({ removed }: Walk, was: Survey, is: Survey): string[] {
  const problems: string[] = [];
  if (was.rows !== removed + is.rows) {
    problems.push(`there were ${was.rows} observations, ${removed} removed, there are ${is.rows}`);
  }
  if (was.entities !== is.entities || was.digest !== is.digest) {
    problems.push(
      `the newest state of ${was.entities} entities was ${was.digest}, ` +
        `of ${is.entities} it is ${is.digest}`,
    );
  }
  return problems;
}

/** Counts every observation and looks at every newest state of a kind, and changes nothing. */
async function* survey(
  database: Database,
  kind: Kind,
  restRatio: number,
): AsyncGenerator<number, Survey> {
  const steps = retentionSteps(database, kind);
  const hasher = new Bun.CryptoHasher("sha256");
  const seen = { entities: 0, rows: 0 };
  for await (const stretch of stretchesOf(steps, restRatio)) {
    const keys = newKeysOf(stretch);
    if (keys.length > 0) hasher.update(`${await steps.stateOf(keys)}\n`);
    seen.entities += keys.length;
    seen.rows += stretch.rows;
    yield stretch.rows;
  }
  return { ...seen, digest: hasher.digest("hex") };
}

/** Walks through a kind and removes, or counts, what the bounds leave out. */
async function* walk(
  database: Database,
  kind: Kind,
  bounds: RetentionBounds | undefined,
  { mode, restRatio }: RetentionOptions,
): AsyncGenerator<number, Walk> {
  const steps = retentionSteps(database, kind);
  const sum = { entities: 0, found: 0, removed: 0, left: 0, told: 0, isStateUntouched: true };
  for await (const stretch of stretchesOf(steps, restRatio)) {
    const { rows, earliest } = stretch;
    let done = { found: rows, removed: 0, left: rows, told: 0, isStateUntouched: true };
    if (bounds !== undefined && earliest < bounds.rawFrom) {
      const removable = await steps.countRemovable(stretch, bounds);
      if (mode === "count") done = { ...done, removed: removable, left: rows - removable };
      else if (removable > 0) done = await steps.thin(stretch, bounds);
    }
    sum.entities += newKeysOf(stretch).length;
    sum.found += done.found;
    sum.removed += done.removed;
    sum.left += done.left;
    sum.told += done.told;
    sum.isStateUntouched &&= done.isStateUntouched;
    yield done.found;
  }
  return sum;
}

/** All stretches of a kind, one after another with rests, up to what is the last at the start. */
async function* stretchesOf(
  { find, last }: ReturnType<typeof retentionSteps>,
  restRatio: number,
): AsyncGenerator<Stretch, void> {
  const upTo = await last();
  if (upTo === undefined) return;
  let began = performance.now();
  let stretch = await find(START, upTo);
  while (stretch !== undefined) {
    yield stretch;
    const tookMs = performance.now() - began;
    await Bun.sleep(Math.min(REST_MAX_MS, restRatio * tookMs));
    began = performance.now();
    stretch = await find(stretch.to, upTo);
  }
}

/** The entities of a stretch that the one before it did not end in. */
function newKeysOf({ keys, from }: Stretch): readonly number[] {
  return keys.filter((key) => key !== from[0]);
}
