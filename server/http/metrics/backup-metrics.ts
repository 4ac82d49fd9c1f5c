/** The Prometheus metrics of scheduled backups, in the process that makes them. */
import { labelCounts, type ReadMetric } from "./read-metric.ts";

/** The scheduled backups, as the process knows that makes them. Times are in milliseconds. */
interface BackupStatus {
  /** Now at most: one of a clock that was ahead is no sign that backups are made. */
  readonly newestAt: number | undefined;
  readonly results: Readonly<Record<string, number>>;
  readonly last:
    | { readonly durationMs: number; readonly bytes?: number; readonly failure?: string }
    | undefined;
}

export interface BackupOptions {
  /** `readScheduled()` returns `undefined` while another process makes the backups, or none does. */
  readonly backups: { readScheduled(): BackupStatus | undefined };
  now(): number;
}

export const createBackupMetrics = ({
  backups: { readScheduled },
  now,
}: BackupOptions): readonly ReadMetric[] => [
  {
    name: "creator_metrics_backup_age_seconds",
    help: "Time since the newest scheduled backup began",
    read() {
      const newestAt = readScheduled()?.newestAt;
      const ageMs = newestAt === undefined ? undefined : now() - newestAt;
      return ageMs === undefined || ageMs < 0 ? undefined : ageMs / 1000;
    },
  },
  {
    name: "creator_metrics_backup_failing",
    help: "1 if the last scheduled backup failed, else 0",
    read() {
      const last = readScheduled()?.last;
      return last && Number(last.failure !== undefined);
    },
  },
  {
    name: "creator_metrics_backup_duration_seconds",
    help: "How long the last scheduled backup took, with its check, also if it failed",
    read() {
      const last = readScheduled()?.last;
      return last && last.durationMs / 1000;
    },
  },
  {
    name: "creator_metrics_backup_size_bytes",
    help: "The size of the last scheduled backup, unless it failed",
    read: () => readScheduled()?.last?.bytes,
  },
  {
    name: "creator_metrics_backups_total",
    help: "Scheduled backups of this process by result",
    labelNames: ["result"],
    read: () => labelCounts("result", readScheduled()?.results),
  },
];
