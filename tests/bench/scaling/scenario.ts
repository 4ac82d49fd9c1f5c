/** What is simulated: the costs of each step, a deployment and its load. Times are milliseconds. */

/** The processor time of each step, and waits without it, in milliseconds. */
export interface Costs {
  /** In a service process: a cached read, half of it before the charge and half of it after. */
  readonly readService: number;
  /** What a job takes more that finds the process idle. */
  readonly wakeService: number;
  readonly commitService: number;
  /** What a read that is not cached takes more. */
  readonly missService: number;
  /** A message between a service process and the committer, on each side. */
  readonly message: number;
  /** On the server: a commit of one account, and each further account in it. */
  readonly commitServer: number;
  readonly accountServer: number;
  readonly missServer: number;
  /** A read from an embedded replica, in the service process. */
  readonly missReplica: number;
  /** What a commit takes more if another connection had the writer: a pause, and processor time. */
  readonly handoffPause: number;
  readonly handoffServer: number;
  /** What a synced commit takes more: a wait for the disk, and processor time. */
  readonly syncWait: number;
  readonly syncServer: number;
  /** A transaction of observations, on the server and in the collector. */
  readonly observationsServer: number;
  readonly observationsService: number;
  /** A step that folds 100 entries of the journal, on the server. */
  readonly foldServer: number;
}

/** Requests arrive over connections that each wait for the response, or at a rate. */
type Arrivals =
  | { readonly connections: number; readonly clientMs: number }
  | { readonly readsPerSecond: number };

/** A deployment and its load. */
export interface Scenario {
  readonly arrivals: Arrivals;
  readonly processes: number;
  readonly accounts: number;
  /** Who commits: each process; one of them for all; or a process more, which serves no reads. */
  readonly committer: "each" | "one" | "idle";
  /** Where reads that are not cached go: to the ledger's server, to another, or to a replica. */
  readonly entities: "joint" | "separate" | "replica";
  /** The share of reads that are cached, and of API keys. */
  readonly cachedShare: number;
  readonly cachedKeyShare: number;
  readonly isSynced: boolean;
  readonly roundTripMs: number;
  /** Transactions of observations a second. */
  readonly observationWritesPerSecond: number;
  /** The least time from one step that folds the journal to the next; without it, none is folded. */
  readonly foldIntervalMs?: number;
  /** The cores of each server, or of the one machine that runs everything, clients included. */
  readonly cores: number;
  readonly isOneMachine: boolean;
}
