/** The report of a retention run. */
import type { EntityKind } from "../../core/entity-kinds.ts";

/**
 * How a policy is applied: `apply` removes observations; `prove` removes them and compares the
 * whole state before and after; `count` removes nothing and reports what would be removed.
 */
export type RetentionMode = "apply" | "prove" | "count";

/** The result of one run of the retention policy. */
export interface RetentionReport {
  readonly mode: RetentionMode;
  readonly kinds: readonly KindRetentionReport[];
  /**
   * Whether the state of all entities was compared before and after. While others write, only each
   * step is compared, within its transaction.
   */
  readonly isWholeCompared: boolean;
  readonly faults: readonly RetentionFault[];
}

/** The result of a run for one kind of entity. */
export interface KindRetentionReport {
  readonly kind: EntityKind;
  /** As the setting writes it; `all` if there is no rule. */
  readonly rule: string;
  /** Entities that have observations. */
  readonly entities: number;
  /** Observations before the run, removed (or to be removed, in mode `count`), and after it. */
  readonly before: number;
  readonly removed: number;
  readonly after: number;
  /** Digests of the newest state of all entities; `null` if not compared. */
  readonly stateBefore: string | null;
  readonly stateAfter: string | null;
}

/** A mistake that a run found in its own result. */
export type RetentionFault = Readonly<{ kind: EntityKind; problem: string }>;

/** Applies retention step by step; yields how many observations each step looked at. */
export type RetentionRun = AsyncGenerator<number, RetentionReport>;
