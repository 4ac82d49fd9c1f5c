/** Interfaces of the status that administrators see. Instants are milliseconds since 1970 UTC. */
import type { EntityKind } from "../../core/entity-kinds.ts";
import type { SourceStatus } from "./collection.ts";

/** What is stored of a kind of entities. */
export interface KindTotals {
  readonly kind: EntityKind;
  /** How many entities were observed. */
  readonly entities: number;
  readonly observations: number;
  /** Whether `observations` is computed from a sample. */
  readonly isEstimated: boolean;
  /** The instant of the newest observation; `null` if there is none. */
  readonly newest: number | null;
}

/** What is stored. */
export interface StoredTotals {
  readonly kinds: readonly KindTotals[];
  readonly accounts: number;
  readonly keys: number;
  /** The keys that are neither revoked nor expired. */
  readonly validKeys: number;
  /** Sums of all accounts; `null` beyond 2^53 - 1, which no number states exactly. */
  readonly granted: number | null;
  readonly debited: number | null;
  readonly refunded: number | null;
  readonly balance: number | null;
  readonly creators: number;
  readonly channels: number;
}

/** The database, its contents and the sources. */
export interface ServiceStatus {
  readonly database: {
    /** Without secrets. */
    readonly url: string;
    /** The size of the file and of its recent changes; `null` for a libSQL server. */
    readonly bytes: number | null;
    /** What a commit survives at least; a libSQL server with another setting may do more. */
    readonly durability: "power" | "process";
    /** Why requests cannot be charged or read; `null` if they can. */
    readonly outage: string | null;
  };
  readonly totals: StoredTotals;
  readonly sources: readonly SourceStatus[];
}
