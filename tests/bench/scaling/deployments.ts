/** The loads and the deployments that are simulated, and what each resource has to do. */
import { COSTS, SIZES } from "./figures.ts";
import { ENTRIES_PER_FOLD, simulate, type RunResult } from "./model.ts";
import type { Scenario } from "./scenario.ts";

/** A load at its peak. */
export interface Load {
  readonly readsPerSecond: number;
  readonly accounts: number;
  readonly entities: number;
  readonly observationsPerDay: number;
}

export type Dimension = keyof Load;

/**
 * The load of today. The cost of a replica was measured at this rate of reads, and
 * `tests/bench/cluster/measure-cluster.ts` has as many accounts.
 * The simulation of thirty days in server/COLLECTING.md has 500 channels, 2,000 creators and 40,000
 * items; each day, 106,000 observations of items, and one of each profile an hour.
 */
export const TODAY: Load = {
  readsPerSecond: 500,
  accounts: 1000,
  entities: 42_500,
  observationsPerDay: 106_000 + 24 * 2500,
};

/** Multiplies one dimension of today's load, or all of them. */
export function multiplyLoad(factor: number, dimension?: Dimension): Load {
  if (dimension !== undefined) return { ...TODAY, [dimension]: factor * TODAY[dimension] };
  return {
    readsPerSecond: factor * TODAY.readsPerSecond,
    accounts: factor * TODAY.accounts,
    entities: factor * TODAY.entities,
    observationsPerDay: factor * TODAY.observationsPerDay,
  };
}

export interface Deployment extends Pick<Scenario, "committer" | "entities"> {
  readonly name: string;
  /** The namespaces of the ledger, each with its committer and its server. */
  readonly ledgers: number;
  readonly roundTripMs?: number;
  /** The pause after a step that folds the journal, as a multiple of the step. */
  readonly foldPauseRatio?: number;
}

export const ONE_SERVER: Deployment = {
  name: "one committer",
  committer: "idle",
  entities: "joint",
  ledgers: 1,
};

/** The pause of the commands that wait for the fold, of server/composition/maintenance.ts. */
const SHORT_PAUSES: Deployment = { ...ONE_SERVER, name: "short pauses", foldPauseRatio: 1 };
const TWO_SERVERS: Deployment = { ...SHORT_PAUSES, name: "two servers", entities: "separate" };
const REPLICAS: Deployment = { ...SHORT_PAUSES, name: "replicas", entities: "replica" };

/** The steps, in their order: each has those before it. */
export const DEPLOYMENTS: readonly Deployment[] = [
  { ...ONE_SERVER, name: "no committer", committer: "each" },
  ONE_SERVER,
  SHORT_PAUSES,
  TWO_SERVERS,
  REPLICAS,
  { ...REPLICAS, name: "4 ledgers", ledgers: 4 },
  { ...REPLICAS, name: "16 ledgers", ledgers: 16 },
  { ...REPLICAS, name: "64 ledgers", ledgers: 64 },
];

/** Processes in another region than the servers, without replicas and with them. */
export const REGIONS: readonly Deployment[] = [
  { ...TWO_SERVERS, roundTripMs: SIZES.regionRoundTrip },
  { ...REPLICAS, roundTripMs: SIZES.regionRoundTrip },
];

/** The machine of the benchmarks has as many. */
const SERVER_CORES = 2;

/** So that one may fail. More are added so that none is busy for more than this share. */
const PROCESSES_MIN = 3;
const PROCESS_SHARE_MAX = 0.5;

/** Of server/http/reads/response-cache.ts, and details of 600 bytes: 2 bytes a character. */
const CACHED_RESPONSES = (16 * 1_048_576) / (1024 + 2 * 600);
/** Of server/metering/api-keys.ts. */
const CACHED_KEYS = 100_000;

/** Collected observations come in such transactions. */
const OBSERVATIONS_PER_WRITE = 50;
const GROUP_MAX_SIZE = 256;

const DAY_S = 86_400;
const JOURNAL_DAYS = 35;
const FOLD_PAUSE_RATIO = 9;

/** Enough for percentiles, and, at a high rate, for the writes between the debits. */
const COUNTED_READS = 10_000;
const COUNTED_READS_MAX = 30_000;
const COUNTED_MS = 500;
const SEED = 29;

/** The load of one ledger, with its part of the processes. All ledgers are alike. */
function createScenario(load: Load, deployment: Deployment): Scenario {
  const { ledgers, committer, entities, roundTripMs = 0 } = deployment;
  const readsPerSecond = load.readsPerSecond / ledgers;
  const cachedShare = Math.min(1, CACHED_RESPONSES / load.entities);
  const readMs = COSTS.wakeService + COSTS.readService + (1 - cachedShare) * COSTS.missService;
  const busyProcesses = (readsPerSecond * readMs) / 1000;
  return {
    arrivals: { readsPerSecond },
    processes: Math.max(PROCESSES_MIN, Math.ceil(busyProcesses / PROCESS_SHARE_MAX)),
    accounts: load.accounts / ledgers,
    committer,
    entities,
    cachedShare,
    cachedKeyShare: Math.min(1, CACHED_KEYS / load.accounts),
    isSynced: true,
    roundTripMs,
    observationWritesPerSecond: load.observationsPerDay / DAY_S / OBSERVATIONS_PER_WRITE,
    foldIntervalMs: computeFoldMs(deployment),
    cores: SERVER_CORES,
    isOneMachine: false,
  };
}

/** A step with its pause. */
const computeFoldMs = ({ foldPauseRatio = FOLD_PAUSE_RATIO }: Deployment): number =>
  SIZES.foldStep * (1 + foldPauseRatio);

/** How many of some accounts a full group has on average. */
const countAccounts = (accounts: number): number =>
  accounts * (1 - (1 - 1 / accounts) ** GROUP_MAX_SIZE);

/**
 * The shares of time that writers and servers are needed for, with full groups. Commits fill the
 * time that is left with smaller groups, so their utilization alone does not show a bottleneck.
 */
function computeNeeds(scenario: Scenario, reads: number, folds: number) {
  const { accounts, cachedShare, cachedKeyShare, entities, observationWritesPerSecond } = scenario;
  const accountsInGroup = countAccounts(accounts);
  const isJoint = entities === "joint";
  const groups = reads / GROUP_MAX_SIZE;
  const writes = folds + (isJoint ? observationWritesPerSecond : 0);
  const groupMs =
    COSTS.commitServer + COSTS.syncServer + (accountsInGroup - 1) * COSTS.accountServer;
  const foldsMs = folds * (COSTS.foldServer + COSTS.syncServer);
  const observationsMs = observationWritesPerSecond * (COSTS.observationsServer + COSTS.syncServer);
  const jointMs = isJoint ? observationsMs : 0;
  const misses = entities === "replica" ? 0 : reads * (1 - cachedShare);
  const queries = reads * (1 - cachedKeyShare) + (isJoint ? misses : 0);
  const writesMs = groups * groupMs + foldsMs + jointMs;
  const separateMs = observationsMs - jointMs;
  const separateMisses = isJoint ? 0 : misses;
  return {
    "ledger's writer": (writesMs + (groups + writes) * COSTS.syncWait) / 1000,
    "ledger's server": (writesMs + queries * COSTS.missServer) / 1000 / SERVER_CORES,
    "entities' server": (separateMs + separateMisses * COSTS.missServer) / 1000 / SERVER_CORES,
    "entities' writer":
      (separateMs + (isJoint ? 0 : observationWritesPerSecond * COSTS.syncWait)) / 1000,
    collector: (observationWritesPerSecond * COSTS.observationsService) / 1000,
  };
}

/** The shares of its time, or of its limit, that each resource is needed for. */
export type Needs = Readonly<Record<(typeof RESOURCES)[number], number>>;

export const RESOURCES = [
  "ledger's writer",
  "ledger's server",
  "fold",
  "entities' server",
  "entities' writer",
  "committer",
  "collector",
  "YouTube's quota",
] as const;

/** A simulated deployment with a load. */
export interface Assessment {
  readonly load: Load;
  readonly deployment: Deployment;
  readonly processes: number;
  /** How busy a process is that serves reads. */
  readonly processShare: number;
  readonly result: RunResult;
  readonly isOverloaded: boolean;
  readonly needs: Needs;
  /** Gigabytes: the journal of 35 days at this rate. */
  readonly journalGb: number;
}

/** A read waits for what is busy for more than this share of the time, longer and longer. */
export const SHARE_MAX = 0.7;

/** Simulates a deployment with a load. */
export function assess(load: Load, deployment: Deployment): Assessment {
  const scenario = createScenario(load, deployment);
  const readsPerSecond = load.readsPerSecond / deployment.ledgers;
  const countedReads = (readsPerSecond * COUNTED_MS) / 1000;
  const reads = Math.min(COUNTED_READS_MAX, Math.max(COUNTED_READS, countedReads));
  const durationMs = (reads * 1000) / readsPerSecond;
  const plan = { warmUpMs: durationMs / 5, durationMs, seed: SEED };
  const result = simulate(scenario, COSTS, plan);
  const foldMs = computeFoldMs(deployment);
  const isOverloaded = result.readsPerSecond < 0.95 * readsPerSecond;
  // Overloaded groups are full.
  const entriesPerDebit = isOverloaded
    ? countAccounts(scenario.accounts) / GROUP_MAX_SIZE
    : result.entriesPerDebit;
  const foldsNeeded = (readsPerSecond * entriesPerDebit) / ENTRIES_PER_FOLD;
  const folds = Math.min(1000 / foldMs, foldsNeeded);
  const debits = load.readsPerSecond * DAY_S * JOURNAL_DAYS;
  const commitsPerDebit = result.commits / 1000;
  const bytesPerDebit =
    commitsPerDebit * SIZES.commitBytes + (entriesPerDebit - commitsPerDebit) * SIZES.runBytes;
  const hasCommitter = deployment.committer !== "each";
  const factor = load.observationsPerDay / TODAY.observationsPerDay;
  return {
    load,
    deployment,
    processes: (scenario.processes + (hasCommitter ? 1 : 0)) * deployment.ledgers,
    processShare: result.busy.services / scenario.processes,
    result,
    isOverloaded,
    needs: {
      ...computeNeeds(scenario, readsPerSecond, folds),
      fold: (foldsNeeded * foldMs) / 1000,
      committer: hasCommitter ? result.busy.committer : 0,
      "YouTube's quota": factor * SIZES.youtubeShare,
    },
    journalGb: (debits * bytesPerDebit) / 1e9,
  };
}

/** The resources that are needed for more than 70 % of the time, the most needed first. */
export function findBottlenecks({ needs }: Assessment): (typeof RESOURCES)[number][] {
  return RESOURCES.filter((name) => needs[name] > SHARE_MAX).toSorted(
    (a, b) => needs[b] - needs[a],
  );
}
