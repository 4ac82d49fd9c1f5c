/**
 * Measures services on a real libSQL server: the CPU time of the server and of the services for charged
 * reads, by one process and by three; what a read sends; syncs; a slow network; replicas.
 */
import { openDatabase } from "../../../server/store/database/open-database.ts";
import { startBlackholeProxy } from "../../support/network/blackhole-proxy.ts";
import { startLossyHranaProxy } from "../../support/network/lossy-hrana-proxy.ts";
import { hasSqld } from "../../support/processes/sqld.ts";
import { countSyncs } from "../../support/processes/sync-count.ts";
import { hasStrace } from "../../support/processes/syscall-trace.ts";
import { createAllAccess } from "../../support/store/access.ts";
import { atLeast, atMost, type BenchContext } from "../bench-context.ts";
import {
  createRatioRow,
  createSkippedRow,
  createValueRow,
  median,
  type ReportRow,
  type Threshold,
} from "../report.ts";
import { COMPILING_S, measureInRounds, warmUp, type RoundPlan } from "../rounds.ts";
import { USER_PATH } from "../seed.ts";
import { fetchAnswer } from "../service-process.ts";
import {
  CPU_UNIT,
  createClusterLoad,
  FRESH_PATHS,
  PLAN,
  startCluster,
  type Cluster,
  type ClusterResult,
  type ClusterTarget,
} from "./cluster.ts";
import { measureReplica } from "./replica.ts";

const PART = "cluster";
const MANY_CONNECTIONS: RoundPlan = { ...PLAN, connections: 256 };
const PROCESSES = 3;
const ACCOUNTS = 1000;
const CREDITS = 1_000_000;

/** Commits, one after another, whose syncs are counted. */
const COMMITS = 100;

/** On the way to the server, and on the way back. */
const DELAY_MS = 5;
const ROUND_TRIPS_MAX = 2;

/** Queries whose median is the time of a round trip: with the timers of the proxy, 11.5 ms. */
const ROUND_TRIPS = 30;

/** Measures all rows, if there is a server for this platform. */
export async function measureCluster(context: BenchContext): Promise<ReportRow[]> {
  if (!hasSqld()) {
    return [createSkippedRow({ part: PART, what: "skipped, there is no sqld for this platform" })];
  }
  return [
    ...(await measureProcesses(context)),
    ...(await measureCalls(context)),
    ...(await measureDelay(context)),
    ...(await measureReplica(PART, context)),
  ];
}

/** Runs a measurement with a cluster, and always stops it. */
async function withCluster<Result>(
  { workspace }: BenchContext,
  options: Parameters<typeof startCluster>[1],
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const cluster = await startCluster(workspace, options);
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

const createTarget = (cluster: Cluster, name: string): ClusterTarget => {
  return { cluster, name, key: cluster.key, paths: USER_PATH };
};

/** Compares three processes with one, each on a server of their own. */
async function measureProcesses(context: BenchContext): Promise<ReportRow[]> {
  const { load, logProgress } = context;
  logProgress("cluster: 1 and 3 processes");
  const loadCluster = createClusterLoad(load);
  return withCluster(context, { processes: 1 }, async (alone) => {
    const rows = await withCluster(context, { processes: PROCESSES }, async (shared) => {
      const targets = {
        one: createTarget(alone, "1 process"),
        three: createTarget(shared, "3 processes"),
      };
      await warmUp(loadCluster, targets, PLAN.connections, COMPILING_S);
      const few = await measureInRounds(loadCluster, targets, PLAN);
      await warmUp(loadCluster, targets, MANY_CONNECTIONS.connections);
      const many = await measureInRounds(loadCluster, targets, MANY_CONNECTIONS);
      return [
        ...createProcessRows("64 connections", few, { one: 25, ratio: 1.3, services: 1.3 }),
        ...createProcessRows("256 connections", many, { one: 8, ratio: 1.6 }),
      ];
    });
    return [...rows, ...(await measureKinds(context, alone)), ...(await measureSyncs(alone))];
  });
}

interface ProcessLimits {
  readonly one: number;
  readonly ratio: number;
  readonly services?: number;
}

function createProcessRows(
  size: string,
  { one, three }: Readonly<Record<"one" | "three", readonly ClusterResult[]>>,
  limits: ProcessLimits,
): ReportRow[] {
  const compare = (who: "serverMs" | "servicesMs", name: string, limit?: number) =>
    createRatioRow({
      part: PART,
      what: `${name}, 3 processes / 1, ${size}`,
      unit: CPU_UNIT,
      ours: three.map((result) => result[who]),
      theirs: one.map((result) => result[who]),
      ...(limit !== undefined && { target: atMost(limit) }),
    });
  return [
    createServerRow(`1 process, ${size}`, one, atMost(limits.one)),
    compare("serverMs", "server", limits.ratio),
    compare("servicesMs", "services", limits.services),
  ];
}

const createServerRow = (what: string, results: readonly ClusterResult[], target: Threshold) =>
  createValueRow({
    part: PART,
    what: `server, ${what}`,
    unit: CPU_UNIT,
    value: results.map(({ serverMs }) => serverMs),
    target,
  });

/** Measures the reads of many accounts, and reads that are not cached. */
async function measureKinds({ load, logProgress }: BenchContext, cluster: Cluster) {
  logProgress("cluster: 1,000 accounts; not cached");
  const loadCluster = createClusterLoad(load);
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => {
    return { account: `customer ${index}`, credits: CREDITS };
  });
  const keys = await createAllAccess(cluster.sqld.url, accounts);
  const targets = {
    accounts: { ...createTarget(cluster, "1,000 accounts"), key: keys },
    fresh: {
      ...createTarget(cluster, "not cached"),
      paths: FRESH_PATHS,
    },
  };
  await warmUp(loadCluster, targets, PLAN.connections, 2);
  const results = await measureInRounds(loadCluster, targets, PLAN);
  return [
    createServerRow("1,000 accounts, 64 connections", results.accounts, atMost(60)),
    createServerRow("not cached, 64 connections", results.fresh, atMost(250)),
  ];
}

/** Counts the syncs of a server for commits of one read each. */
async function measureSyncs({ sqld, services: [service], key }: Cluster): Promise<ReportRow[]> {
  const what = "syncs for each commit, power";
  if (!hasStrace() || service === undefined) {
    return [createSkippedRow({ part: PART, what: `${what}: skipped, there is no strace` })];
  }
  const syncs = await countSyncs(sqld.pid, async () => {
    for (let read = 0; read < COMMITS; read++) await fetchAnswer(service, USER_PATH, key);
  });
  return [
    createValueRow({ part: PART, what, unit: "syncs", value: syncs / COMMITS, target: atLeast(1) }),
  ];
}

/** Counts the statements and the calls of reads, with a proxy in between. */
async function measureCalls(context: BenchContext): Promise<ReportRow[]> {
  context.logProgress("cluster: statements and round trips");
  let proxy: ReturnType<typeof startLossyHranaProxy> | undefined;
  const reach = (url: string) => (proxy = startLossyHranaProxy(url)).url;
  const loadCluster = createClusterLoad(context.load);
  try {
    return await withCluster(context, { processes: 1, reach }, async (cluster) => {
      const target = createTarget(cluster, "counted calls");
      const counts: { statements: number; calls: number }[] = [];
      const { connections, seconds } = PLAN;
      await loadCluster(target, connections, seconds);
      for (let round = 0; round < PLAN.rounds; round++) {
        const before = { ...proxy?.counts };
        const { reads } = await loadCluster(target, connections, seconds);
        const since = (name: "statements" | "calls") =>
          (((proxy?.counts[name] ?? NaN) - (before[name] ?? NaN)) * 1000) / reads;
        counts.push({ statements: since("statements"), calls: since("calls") });
      }
      const createRow = (name: "statements" | "calls", what: string, limit: number) =>
        createValueRow({
          part: PART,
          what: `${what}, 1 process, 64 connections`,
          unit: "for 1,000 reads",
          value: counts.map((count) => count[name]),
          target: atMost(limit),
        });
      return [createRow("statements", "statements", 60), createRow("calls", "round trips", 40)];
    });
  } finally {
    proxy?.close();
  }
}

/** Compares the response time of reads while the server is far away with a query from there. */
async function measureDelay(context: BenchContext): Promise<ReportRow[]> {
  context.logProgress(`cluster: ${DELAY_MS} ms to the server`);
  let proxy: Awaited<ReturnType<typeof startBlackholeProxy>> | undefined;
  const reach = async (url: string) =>
    (proxy = await startBlackholeProxy(url, { delayMs: DELAY_MS })).url;
  const loadCluster = createClusterLoad(context.load);
  try {
    return await withCluster(context, { processes: PROCESSES, reach }, async (cluster) => {
      const target = createTarget(cluster, "far away");
      const { connections, rounds, seconds } = PLAN;
      await loadCluster(target, connections, seconds);
      const medians: number[] = [];
      const roundTrips: number[] = [];
      for (let round = 0; round < rounds; round++) {
        roundTrips.push(await measureRoundTrip(proxy?.url ?? ""));
        medians.push((await loadCluster(target, connections, seconds)).medianMs);
      }
      return [
        createRatioRow({
          part: PART,
          what: `median response time, 3 processes, ${DELAY_MS} ms to the server and back / round trip`,
          unit: "ms",
          ours: medians,
          theirs: roundTrips,
          target: atMost(ROUND_TRIPS_MAX),
        }),
      ];
    });
  } finally {
    proxy?.close();
  }
}

/** The median time of a query that takes the server no time. */
async function measureRoundTrip(url: string): Promise<number> {
  const database = await openDatabase({ url, durability: "process" });
  const times: number[] = [];
  for (let query = 0; query < ROUND_TRIPS; query++) {
    const startedAt = performance.now();
    await database.queryRows("SELECT 1");
    times.push(performance.now() - startedAt);
  }
  await database.close();
  return median(times);
}
