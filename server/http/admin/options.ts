/** The dependencies of the administration API. */
import { createDefine } from "../endpoints/admin-endpoint.ts";
import type { AuditStore } from "../../store/administration/audit.ts";
import type { KeyStore } from "../../store/accounts/api-keys.ts";
import type { MonitoringListStore } from "../../store/collection/creators.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { createTrackedChannelStore } from "../../store/collection/tracked-channels.ts";
import type { LedgerStore } from "../../store/accounts/ledger.ts";
import type { LedgerVerification } from "../../store/accounts/verify-ledger.ts";
import type { RecoveredFile } from "../../metering/apply-refunds.ts";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import type { ExportOptions } from "../../store/observations/export.ts";
import type { BackupResult } from "../../store/database/backup.ts";
import type { RetentionRun } from "../../store/history/retention.ts";
import type { StoredTotals } from "../../store/administration/totals.ts";
import type { ImportObservations } from "../../../core/stores.ts";

/** The database, its contents and the sources. */
export interface ServiceStatus {
  readonly database: {
    /** The URL without secrets. */
    readonly url: string;
    /** The size of the file and of its recent changes; `null` for a libSQL server. */
    readonly bytes: number | null;
    /** The failure that a commit survives at least; a libSQL server may be set to survive more. */
    readonly durability: "power" | "process";
    /** Why requests cannot be charged or read; `null` if they can. */
    readonly outage: string | null;
  };
  readonly totals: StoredTotals;
  readonly sources: readonly SourceStatus[];
}

/** The dependencies of the administration API. */
export interface AdminOptions {
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  readonly ledger: LedgerStore;
  verifyLedger(): Promise<LedgerVerification>;
  /** Retries the refunds that earlier processes left in files. */
  recoverRefunds(): Promise<readonly RecoveredFile[]>;
  readonly notices: Pick<NoticeStore, "list" | "resend">;
  readonly keys: Pick<KeyStore, "create" | "list" | "revoke" | "rotate">;
  readonly audit: AuditStore;
  /** Reads the state of the database, its contents and the sources. */
  readStatus(): Promise<ServiceStatus>;
  readonly channels: ReturnType<typeof createTrackedChannelStore>;
  /** Finds out which channel a person means. @throws {DomainError} `Invalid Request`. */
  parseChannelName(text: string): string;
  readonly creators: MonitoringListStore;
  /** Why nothing of a kind is collected; `undefined` if it is. */
  readonly idleReasons: Readonly<Record<"channels" | "creators", string | undefined>>;
  /** Why the active source cannot have a creator; `undefined` if it can. */
  explainUncollectable(username: string): string | undefined;
  /** Collects all that is due, within the quotas but without pauses. */
  collect(): Promise<SourceStatus[]>;
  readonly importObservations: ImportObservations;
  exportObservations(options: ExportOptions): AsyncIterable<Record<string, unknown>>;
  /** Applies the retention policy, or counts the observations that it would remove. */
  applyRetention(options: { readonly isDryRun: boolean }): RetentionRun;
  /** Copies the database into a new file. Only commands may name any path. */
  backUp(file: string): Promise<BackupResult>;
  /** The folder for backups that are made over HTTP. */
  readonly backupFolder: string;
}

/** Defines an endpoint of the administration API. */
export const defineAdmin = createDefine<AdminOptions>();
