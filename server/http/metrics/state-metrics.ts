/** The Prometheus metrics of what a scrape reads from databases, the disk and the spool. */
import type { SourceStatus } from "../../collectors/source-health.ts";
import type { CreditForecast } from "../../store/accounts/credit-forecast.ts";
import type { NoticeStore } from "../../store/accounts/notices.ts";
import type { FileUse } from "../../store/database/database.ts";
import { labelCounts, type ReadMetric } from "./read-metric.ts";
import { createSnapshot } from "./snapshot.ts";
import { createSourceMetrics } from "./source-metrics.ts";

/** The use of all accounts is read once a minute at most. */
const FORECAST_KEPT_MS = 60_000;

/** The most accounts that have a forecast: those that run out first. */
const FORECASTS_MAX = 20;

export interface StateOptions {
  readonly collecting: { sources(): Promise<SourceStatus[]> };
  readonly notices: Pick<NoticeStore, "countUndelivered">;
  readonly databases: {
    /** Reads what the file of the database takes; `undefined` for a server. */
    readFileUse(): Promise<FileUse | undefined>;
    /** Counts the changes that are not published yet; `undefined` if one database has all. */
    readonly countUnpublished: (() => Promise<number>) | undefined;
  };
  readonly spool: {
    readUse(): Promise<{
      readonly files: Readonly<Record<string, number>>;
      readonly bytes: number;
    }>;
  };
  /** Forecasts the accounts that run out first; `undefined` if their names may not be shown. */
  readonly forecastCredits: ((max: number) => Promise<CreditForecast[]>) | undefined;
  now(): number;
}

/** Creates the metrics, and what brings them up to date before a scrape. */
export function createStateMetrics(options: StateOptions) {
  const { collecting, notices, databases, spool, forecastCredits, now } = options;
  const sources = createSnapshot(collecting.sources, now);
  const noticeCounts = createSnapshot(notices.countUndelivered, now);
  const fileUse = createSnapshot(databases.readFileUse, now);
  const spoolUse = createSnapshot(spool.readUse, now);
  const unpublished = createSnapshot(async () => databases.countUnpublished?.(), now);
  const forecast = createSnapshot(
    async () => forecastCredits?.(FORECASTS_MAX),
    now,
    FORECAST_KEPT_MS,
  );
  const snapshots = [sources, noticeCounts, fileUse, spoolUse, unpublished, forecast];
  const ageMs = sources.ageMs;
  const metrics: readonly ReadMetric[] = [
    ...createSourceMetrics(() => sources.value() ?? []),
    {
      name: "creator_metrics_collector_state_age_seconds",
      help: "Time since the other collector metrics were read from the database",
      read: () => toSeconds(ageMs()),
    },
    {
      name: "creator_metrics_undelivered_notices",
      help: "Notices about low balances by state: pending ones are tried again, failed ones are not",
      labelNames: ["state"],
      read: () => labelCounts("state", noticeCounts.value()),
    },
    {
      name: "creator_metrics_spool_files",
      help: "Files with refunds that are not applied, of all processes; damaged ones need a person",
      labelNames: ["state"],
      read: () => labelCounts("state", spoolUse.value()?.files),
    },
    {
      name: "creator_metrics_spool_bytes",
      help: "Size of the files with refunds that are not applied",
      read: () => spoolUse.value()?.bytes,
    },
    ...createFileMetrics(() => fileUse.value()),
    {
      name: "creator_metrics_unpublished_changes",
      help: "Changes of entities that are stored, but not known to be in the change log of the ledger",
      read: () => unpublished.value(),
    },
    {
      name: "creator_metrics_account_credits_left_seconds",
      help: "Time until an account runs out of credits, as it used them in the last 7 days",
      labelNames: ["account"],
      read: () =>
        forecast.value()?.map(({ account, secondsLeft }) => ({
          labels: { account },
          value: secondsLeft,
        })),
    },
  ];
  return {
    metrics,
    /** Reads the status of the sources, which the metrics then show too. */
    refreshSources: sources.read,
    update: () => Promise.all(snapshots.map((snapshot) => snapshot.update())),
  };
}

const toSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

const createFileMetrics = (read: () => FileUse | undefined): readonly ReadMetric[] => [
  {
    name: "creator_metrics_database_file_bytes",
    help: "Size of the database file",
    read: () => read()?.fileBytes,
  },
  {
    name: "creator_metrics_database_wal_bytes",
    help: "Size of the write-ahead log of the database file",
    read: () => read()?.logBytes,
  },
  {
    name: "creator_metrics_database_free_bytes",
    help: "Free space of the file system that has the database file",
    read: () => read()?.freeBytes,
  },
  {
    name: "creator_metrics_database_syncs_total",
    help: "Syncs of the write-ahead log to the disk",
    read: () => read()?.syncs,
  },
  {
    name: "creator_metrics_database_checkpoints_total",
    help: "Checkpoints, which move the write-ahead log into the database file",
    read: () => read()?.checkpoints,
  },
];
