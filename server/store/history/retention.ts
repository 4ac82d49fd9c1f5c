/**
 * Applies the retention policy: walks through all observations in steps of a few milliseconds with
 * pauses between. Nothing is remembered between walks, so one that was ended is simply started again.
 */
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import {
  computeRetentionBounds,
  formatRetentionRule,
  type RetentionBounds,
  type RetentionPolicy,
} from "../../../core/retention.ts";
import { FIRST_INSTANT } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import type { ChunkPosition } from "./chunk-sql.ts";
import { prune, readPlan } from "./retention-step.ts";

export interface RetentionReport {
  readonly isDryRun: boolean;
  readonly kinds: readonly {
    readonly kind: EntityKind;
    /** The rule as the setting writes it; `all` if there is none. */
    readonly rule: string;
    /** Entities that have observations. */
    readonly entities: number;
    /** Observations before the run, removed (or to be removed, in a dry run), and after it. */
    readonly before: number;
    readonly removed: number;
    readonly after: number;
  }[];
  /** Observations that a run lost, or a newest state that it changed. */
  readonly faults: readonly { readonly kind: EntityKind; readonly problem: string }[];
}

/** Applies retention step by step; yields how many observations each step examined. */
export type RetentionRun = AsyncGenerator<number, RetentionReport>;

const PAUSE_MAX_MS = 100;

const KEEP_ALL: RetentionBounds = { rawFrom: FIRST_INSTANT, dailyFrom: FIRST_INSTANT };

/** Applies a policy. The caller drives it, and can stop after any step. */
export async function* applyRetention(
  database: Database,
  options: {
    readonly policy: RetentionPolicy;
    readonly now: number;
    /** Whether it only counts the observations that it would remove. */
    readonly isDryRun: boolean;
    /** The pause after a step, as a multiple of the time that the step took. */
    readonly pauseRatio: number;
    readonly kinds?: readonly EntityKind[];
  },
): RetentionRun {
  const { policy, now, isDryRun, pauseRatio } = options;
  const kinds: RetentionReport["kinds"][number][] = [];
  const faults: RetentionReport["faults"][number][] = [];
  for (const kind of options.kinds ?? ENTITY_KINDS) {
    const rule = policy[kind];
    const bounds = rule === undefined ? KEEP_ALL : computeRetentionBounds(rule, now);
    const totals = { entities: 0, before: 0, removed: 0, after: 0 };
    let isStateUntouched = true;
    const tables = KIND_TABLES[kind];
    let from: ChunkPosition = { key: 0, start: Number.MIN_SAFE_INTEGER };
    const to = (await database.queryJson<ChunkPosition>(selectLastPositionSql(tables), [])) ?? from;
    for (;;) {
      const startedAt = performance.now();
      const plan = await readPlan(database, tables, bounds, { from, to });
      if (plan.found === 0) break;
      const result =
        isDryRun || plan.removed === 0
          ? { ...plan, left: plan.found - plan.removed, isStateUntouched: true }
          : await prune(database, tables, bounds, { from, to });
      // The step before can end within the history of the first entity of this one.
      totals.entities += result.keys.filter((key) => key !== from.key).length;
      totals.before += result.found;
      totals.removed += result.removed;
      totals.after += result.left;
      isStateUntouched &&= result.isStateUntouched;
      yield result.found;
      const tookMs = performance.now() - startedAt;
      await Bun.sleep(Math.min(PAUSE_MAX_MS, pauseRatio * tookMs));
      from = result.to;
    }
    kinds.push({ kind, rule: formatRetentionRule(rule), ...totals });
    const { before, removed, after } = totals;
    if (before !== removed + after) {
      const problem = `its steps found ${before} observations, removed ${removed} and left ${after}`;
      faults.push({ kind, problem });
    }
    if (!isStateUntouched) faults.push({ kind, problem: "a step changed a newest state" });
  }
  return { isDryRun, kinds, faults };
}

const selectLastPositionSql = ({ historyTable, entityColumn }: KindTables) => `
  SELECT json_object('key', ${entityColumn}, 'start', start)
  FROM ${historyTable}
  ORDER BY ${entityColumn} DESC, start DESC
  LIMIT 1`;
