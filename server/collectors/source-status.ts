/** How a source is doing: what the runner reports of it, and what it tells when it is asked. */
import type { FailingSource, StoppedSource } from "../../core/collection.ts";
import type { Source } from "./collector.ts";

/** What becomes of a source. The sentences never hold a credential. */
export type SourceEvent =
  | {
      readonly kind: "stopped";
      readonly source: Source;
      readonly reason: string;
      /** Milliseconds since 1970 UTC; `null`: until its settings change. */
      readonly until: number | null;
    }
  | {
      readonly kind: "paused" | "failed" | "retried";
      readonly source: Source;
      readonly reason: string;
    }
  | { readonly kind: "resumed"; readonly source: Source };

/** What was done for a source. */
export interface SourceCounters {
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
  readonly work: Readonly<SourceCounters>;
  readonly stopped: StoppedSource | undefined;
  /** Since the process started; `undefined` while it answers. */
  readonly failing: FailingSource | undefined;
  /** By bucket: what is used of the quota day, and what may be. */
  readonly buckets: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
    readonly pausedUntil: number | undefined;
  }[];
}
