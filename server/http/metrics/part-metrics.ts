/** The Prometheus metrics of what the parts of this process do: commits, queues, cache, imports. */
import type { Registry } from "prom-client";
import type { CommitCounts } from "../../metering/commit-observer.ts";
import { ROLES, type Role } from "../../stored-names.ts";
import type { Histogram } from "../../telemetry/histogram.ts";
import type { createResponseCache } from "../reads/response-cache.ts";
import { registerHistogram } from "./histogram-metric.ts";
import { labelCounts, type ReadMetric } from "./read-metric.ts";

/** Counts by the values of a label; `undefined` if the process has no such part. */
type PartCounts = Readonly<Record<string, number>> | undefined;

export interface PartOptions {
  readonly debitQueue: {
    readonly counts: {
      readonly commits: CommitCounts;
      countWaitingDebits(): number;
      countPendingRefunds(): number;
    };
  };
  readonly waitForSlot: { countWaiting(): number };
  readonly responseCache: Pick<ReturnType<typeof createResponseCache>, "reads" | "readUse">;
  readonly imports: {
    readonly counts: {
      readonly lines: Readonly<Record<string, number>>;
      readonly durations: Histogram;
      countRunning(): number;
    };
  };
  /** By their names, the roles that this process may hold. */
  readonly roles: Readonly<Record<Role, { isHeld(): boolean }>>;
  /** The batches of debits of this process, by who committed them. */
  readonly debitCommits: { readonly counts: Readonly<Record<string, number>> };
  /** The requests for pictures, by result; `undefined` if none are served. */
  readonly pictures: { readonly counts: Readonly<Record<string, number>> } | undefined;
  /** The reads that no account pays for. */
  readonly freeReads: { count(): number };
  readonly noticeAttempts: Readonly<Record<string, number>>;
  readonly databases: {
    /** Returns why requests to a database are suspended; `undefined` if they are not. */
    getOutage(): Error | undefined;
    readonly replica:
      | {
          /** How many reads of metrics it served, and how many its primary in its place. */
          readonly counts: Readonly<Record<"replica" | "primary", number>>;
          /** Returns why it serves none; `undefined` if it does. */
          getFailure(): unknown;
        }
      | undefined;
  };
}

export const createPartMetrics = (options: PartOptions): readonly ReadMetric[] => [
  ...createMeteringMetrics(options),
  ...createWorkMetrics(options),
  {
    name: "creator_metrics_database_away",
    help: "1 while a libSQL server does not answer and only probes are sent to it, else 0",
    read: () => (options.databases.getOutage() === undefined ? 0 : 1),
  },
  ...createReplicaMetrics(options),
  {
    name: "creator_metrics_role_held",
    help: "1 while this process does the work of a role, for all that share the database, else 0",
    labelNames: ["role"],
    read: () =>
      ROLES.map((role) => ({ labels: { role }, value: options.roles[role].isHeld() ? 1 : 0 })),
  },
];

function createReplicaMetrics({ databases: { replica } }: PartOptions): readonly ReadMetric[] {
  if (replica === undefined) return [];
  return [
    ...createCounter("creator_metrics_replica_reads_total", replica.counts, {
      label: "from",
      help: "Queries of metrics by what answered: the replica, or the primary because it was behind",
    }),
    {
      name: "creator_metrics_replica_away",
      help: "1 while the replica fails or is far behind, and its primary serves all reads, else 0",
      read: () => (replica.getFailure() === undefined ? 0 : 1),
    },
  ];
}

/** Creates the counter of a part, if the process has the part. */
function createCounter(
  name: string,
  counts: PartCounts,
  { label, help }: Readonly<Record<"label" | "help", string>>,
): ReadMetric[] {
  if (counts === undefined) return [];
  return [{ name, help, labelNames: [label], read: () => labelCounts(label, counts) }];
}

function createMeteringMetrics(options: PartOptions): readonly ReadMetric[] {
  const { debitQueue, waitForSlot, responseCache, freeReads, debitCommits } = options;
  const { commits, countWaitingDebits, countPendingRefunds } = debitQueue.counts;
  return [
    {
      name: "creator_metrics_commit_failures_total",
      help: "Commits of debits and refunds that failed",
      read: () => commits.failures,
    },
    ...createCounter("creator_metrics_debit_batches_total", debitCommits.counts, {
      label: "committed_by",
      help: "Batches of debits of this process, by who committed them: the committer, or the process",
    }),
    {
      name: "creator_metrics_queued_requests",
      help: "Requests that wait: for the commit of their debit, or for their read",
      labelNames: ["queue"],
      read: () =>
        labelCounts("queue", { debit: countWaitingDebits(), read: waitForSlot.countWaiting() }),
    },
    {
      name: "creator_metrics_pending_refunds",
      help: "Refunds that are not applied yet: they wait for a commit, or failed and are tried again",
      read: countPendingRefunds,
    },
    ...createCounter("creator_metrics_cache_reads_total", responseCache.reads, {
      label: "result",
      help: "Reads that can be cached, by whether their response was in the cache",
    }),
    {
      name: "creator_metrics_cache_bytes",
      help: "Size of the cached responses",
      read: () => responseCache.readUse().bytes,
    },
    {
      name: "creator_metrics_cache_entries",
      help: "Number of cached responses",
      read: () => responseCache.readUse().entries,
    },
    {
      name: "creator_metrics_admin_session_reads_total",
      help: "Reads in sessions of administrators, which no account pays for",
      read: freeReads.count,
    },
  ];
}

const createWorkMetrics = ({
  imports,
  pictures,
  noticeAttempts,
}: PartOptions): readonly ReadMetric[] => [
  ...createCounter("creator_metrics_import_lines_total", imports.counts.lines, {
    label: "result",
    help: "Imported observations by result; a rejected one is a line that is not valid",
  }),
  {
    name: "creator_metrics_imports_running",
    help: "Imports that run now",
    read: imports.counts.countRunning,
  },
  ...createCounter("creator_metrics_notice_attempts_total", noticeAttempts, {
    label: "result",
    help: "Attempts to deliver a notice by result: a failed one is repeated, one given up is not",
  }),
  ...createCounter("creator_metrics_pictures_total", pictures?.counts, {
    label: "result",
    help: "Pictures by result: fetched from outside, cached (failures too), or why fetching failed",
  }),
];

export function registerPartHistograms(
  registry: Registry,
  { debitQueue, imports }: PartOptions,
): void {
  const { durations, requests } = debitQueue.counts.commits;
  const histograms = [
    {
      name: "creator_metrics_commit_duration_seconds",
      help: "Time of a commit of debits and refunds, with its sync, also if it failed",
      histogram: durations,
    },
    {
      name: "creator_metrics_commit_requests",
      help: "Debits and refunds of a commit",
      histogram: requests,
    },
    {
      name: "creator_metrics_import_duration_seconds",
      help: "Time of an import: of a request, or of the observations of a collector",
      histogram: imports.counts.durations,
    },
  ];
  for (const { histogram, ...metric } of histograms) {
    registerHistogram(registry, metric, () => [{ labels: {}, histogram }]);
  }
}
