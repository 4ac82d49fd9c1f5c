/** What the administration API depends on. */
import type { KeyScope } from "../../ports/admission.ts";
import type {
  MonitoringListStore,
  SourceStatus,
  TrackedChannelStore,
} from "../../ports/collection.ts";
import type {
  AccountLedger,
  ApiKeyRecord,
  LedgerVerification,
  RecoveredFile,
} from "../../ports/ledger.ts";
import type { ImportObservations } from "../../../core/stores.ts";
import type { ExportOptions } from "../../ports/reads.ts";
import type { RetentionRun } from "../../ports/retention.ts";

/** What a new API key may do, and how long. */
export interface KeyOptions {
  readonly label: string | null;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt: number | null;
}

/** What the administration API depends on. */
export interface AdminOptions {
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  readonly ledger: AccountLedger;
  verifyLedger(): Promise<LedgerVerification>;
  /** Retries the refunds that earlier processes left in files. */
  recoverRefunds(): Promise<readonly RecoveredFile[]>;
  readonly keys: {
    /** Creates an API key of an account. Its text is known only here. */
    create(account: string, options: KeyOptions): Promise<{ id: number; key: string }>;
    list(account: string): Promise<ApiKeyRecord[]>;
    revoke(id: number): Promise<{ id: number; revokedAt: number }>;
  };
  readonly channels: TrackedChannelStore;
  readonly creators: MonitoringListStore;
  /** Why the active source cannot have a creator; `undefined` if it can. */
  explainUncollectable(username: string): string | undefined;
  /** Collects all that is due, within the quotas but without pauses. */
  collect(): Promise<SourceStatus[]>;
  readonly importObservations: ImportObservations;
  exportObservations(options: ExportOptions): AsyncIterable<Record<string, unknown>>;
  /** Applies the retention policy, or counts what it would remove. */
  applyRetention(options: { readonly isDryRun: boolean }): RetentionRun;
}
