/** What the administration API depends on. */
import type { AuditStore, KeyAdministration } from "../../ports/administration.ts";
import type {
  MonitoringListStore,
  SourceStatus,
  TrackedChannelStore,
} from "../../ports/collection.ts";
import type {
  AccountLedger,
  AccountReads,
  LedgerVerification,
  RecoveredFile,
} from "../../ports/ledger.ts";
import type { NoticeAdministration } from "../../ports/notices.ts";
import type { ImportObservations } from "../../../core/stores.ts";
import type { ExportOptions } from "../../ports/reads.ts";
import type { BackupResult } from "../../ports/process.ts";
import type { RetentionRun } from "../../ports/retention.ts";
import type { ServiceStatus } from "../../ports/status.ts";

/** What the administration API depends on. */
export interface AdminOptions {
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  readonly ledger: AccountLedger & Pick<AccountReads, "usage">;
  verifyLedger(): Promise<LedgerVerification>;
  /** Retries the refunds that earlier processes left in files. */
  recoverRefunds(): Promise<readonly RecoveredFile[]>;
  readonly notices: Pick<NoticeAdministration, "list" | "resend">;
  readonly keys: KeyAdministration;
  readonly audit: AuditStore;
  /** Reads the state of the database, of what it holds, and of the sources. */
  readStatus(): Promise<ServiceStatus>;
  readonly channels: TrackedChannelStore;
  readonly creators: MonitoringListStore;
  /** Why nothing of a kind is collected; `undefined` if it is. */
  readonly idleReasons: Readonly<Record<"channels" | "creators", string | undefined>>;
  /** Why the active source cannot have a creator; `undefined` if it can. */
  explainUncollectable(username: string): string | undefined;
  /** Collects all that is due, within the quotas but without pauses. */
  collect(): Promise<SourceStatus[]>;
  readonly importObservations: ImportObservations;
  exportObservations(options: ExportOptions): AsyncIterable<Record<string, unknown>>;
  /** Applies the retention policy, or counts what it would remove. */
  applyRetention(options: { readonly isDryRun: boolean }): RetentionRun;
  /** Copies the database into a new file. Only commands may name any path. */
  backUp(file: string): Promise<BackupResult>;
  /** The folder for backups that are made over HTTP. */
  readonly backupFolder: string;
}
