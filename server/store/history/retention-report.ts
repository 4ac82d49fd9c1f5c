/** The report of a retention run. */
import type { EntityKind } from "../../../core/kinds.ts";

/** The result of one run of the retention policy. */
export interface RetentionReport {
  /** Whether it only counted the observations that it would remove. */
  readonly isDryRun: boolean;
  readonly kinds: readonly KindRetentionReport[];
  readonly faults: readonly RetentionFault[];
}

/** The result of a run for one kind of entity. */
export interface KindRetentionReport {
  readonly kind: EntityKind;
  /** The rule as the setting writes it; `all` if there is none. */
  readonly rule: string;
  /** Entities that have observations. */
  readonly entities: number;
  /** Observations before the run, removed (or to be removed, in a dry run), and after it. */
  readonly before: number;
  readonly removed: number;
  readonly after: number;
}

/** Observations that a run lost, or a newest state that it changed. */
export type RetentionFault = Readonly<{ kind: EntityKind; problem: string }>;

/** Applies retention step by step; yields how many observations each step examined. */
export type RetentionRun = AsyncGenerator<number, RetentionReport>;
