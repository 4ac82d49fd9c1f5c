/**
 * The declaration of an administration endpoint, and the services that its handler gets. Routes,
 * checks, OpenAPI and client follow from the declaration.
 */
import type { Static, TProperties, TSchema } from "@sinclair/typebox";
import type { ImportObservations } from "../../../core/stores.ts";
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { KeyStore } from "../../store/accounts/api-keys.ts";
import type { DebitQueue } from "../../metering/debit-queue.ts";
import type { LedgerStore } from "../../store/accounts/ledger.ts";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import type { verifyLedger } from "../../store/accounts/verify-ledger.ts";
import type { AdminSessionStore } from "../../store/administration/admin-sessions.ts";
import type { createAuditStore } from "../../store/administration/audit.ts";
import type { readTotals } from "../../store/administration/totals.ts";
import type {
  MonitoringListStore,
  createTrackedChannelStore,
} from "../../store/collection/watch-lists.ts";
import type { backUp } from "../../store/database/backup/backup.ts";
import type { RetentionRun } from "../../store/history/retention.ts";
import type { ExportOptions } from "../../store/observations/export.ts";
import type { EndpointDescription, Operation } from "../endpoints/endpoint.ts";

export interface AdminOptions {
  now(): number;
  readonly ledger: LedgerStore;
  verifyLedger(): ReturnType<typeof verifyLedger>;
  /** Retries the refunds that earlier processes left in files. */
  readonly recoverRefunds: DebitQueue["recover"];
  readonly notices: Pick<NoticeStore, "list" | "resend">;
  readonly keys: Pick<KeyStore, "create" | "list" | "revoke" | "rotate">;
  readonly sessions: Pick<AdminSessionStore, "open" | "endAll">;
  readonly audit: ReturnType<typeof createAuditStore>;
  readStatus(): Promise<{
    readonly database: {
      readonly url: string;
      /** The database of the entities and the replica; `null` if there is none. */
      readonly entitiesUrl: string | null;
      readonly replica: string | null;
      /** The failure that a commit survives at least; a libSQL server may survive more. */
      readonly durability: "power" | "process";
      readonly outage: string | null;
    };
    readonly totals: Awaited<ReturnType<typeof readTotals>>;
    readonly sources: readonly SourceStatus[];
  }>;
  readonly channels: ReturnType<typeof createTrackedChannelStore>;
  /** Parses a channel's name as people write it. @throws {DomainError} `Invalid Request`. */
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
  backUp(file: string): ReturnType<typeof backUp>;
  readonly backupFolder: string;
  /** The scheduled backups; `undefined` while this process makes none. */
  readScheduled(): { readonly last: { readonly failure?: string } | undefined } | undefined;
}

/** A read-only value: handlers may return a value that other code holds. */
type Immutable<Value> = Value extends object
  ? { readonly [Field in keyof Value]: Immutable<Value[Field]> }
  : Value;

type AuditEntry = Parameters<AdminOptions["audit"]["begin"]>[0];

/** A change in the audit; its target is `null` if the action says it all. */
export type Change = Pick<AuditEntry, "action"> & Partial<Pick<AuditEntry, "target" | "details">>;

interface AdminRequest<Body> {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Body;
  setStatus(status: number): void;
  /** Makes a change and records it in the audit; `describe` adds details of the result. */
  record<Result>(
    change: Change,
    make: () => Promise<Result>,
    describe?: (result: Result) => Change["details"],
  ): Promise<Result>;
}

interface AdminRoute<
  Declared extends Operation = Operation,
  Query extends TProperties = TProperties,
  Body extends TSchema = TSchema,
  Result extends TSchema = TSchema,
> extends Pick<EndpointDescription, "parameters"> {
  readonly operation: Declared;
  readonly query?: Query;
  /** An object, which is checked; any other schema means that the handler reads the body. */
  readonly body?: Body;
  readonly result: Pick<EndpointDescription<Result>["result"], "schema" | "statuses">;
}

export interface AdminEndpoint<Options> extends AdminRoute {
  handle(options: Options, request: AdminRequest<never>): unknown;
}

/** Creates the function that defines endpoints with some options and texts. */
export const createDefine =
  <Options, Texts>() =>
  <
    const Declared extends Operation,
    Query extends TProperties,
    Body extends TSchema,
    Result extends TSchema,
  >(
    endpoint: AdminRoute<Declared, Query, Body, Result> &
      Texts & {
        handle(
          options: Options,
          request: AdminRequest<Static<Body>>,
        ): Immutable<Static<Result>> | Response | Promise<Immutable<Static<Result>> | Response>;
      },
  ) =>
    endpoint;

export const defineAdmin = createDefine<
  AdminOptions,
  Pick<EndpointDescription, "id" | "summary" | "description" | "errors"> & {
    readonly result: Pick<EndpointDescription["result"], "description" | "headers">;
  }
>();
