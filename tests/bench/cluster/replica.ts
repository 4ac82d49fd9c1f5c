/** Measures services with a replica of the entities: what it costs, and what it saves the server. */
import { join } from "node:path";
import { hasSetting } from "../../support/processes/services.ts";
import { startSqld } from "../../support/processes/sqld.ts";
import { runSteadyLoad } from "../../support/processes/steady-load.ts";
import { atMost, withServers, type BenchContext } from "../bench-context.ts";
import { createSkippedRow, createValueRow, type ReportRow } from "../report.ts";
import { measureInRounds, warmUp } from "../rounds.ts";
import { USER_PATH } from "../seed.ts";
import type { BenchServer } from "../workspace.ts";
import {
  CPU_UNIT,
  createClusterLoad,
  FRESH_PATHS,
  PLAN,
  startCluster,
  startClusterService,
  type Cluster,
} from "./cluster.ts";

const DEBITS_PER_SECOND = 500;
const ROUND_MS = 3000;
const WARM_UP_MS = 2000;

/** Services of one cluster, with a replica and without one. */
type ComparedServers = Readonly<Record<"replicated" | "direct", BenchServer>>;

/** Measures a replica, if this version of the service can have one. */
export async function measureReplica(part: string, context: BenchContext): Promise<ReportRow[]> {
  const { workspace, logProgress } = context;
  if (!hasSetting("DATABASE_REPLICA")) {
    const what = "replica: skipped, this version has no setting DATABASE_REPLICA";
    return [createSkippedRow({ part, what })];
  }
  logProgress("cluster: a replica");
  const entities = await startSqld();
  try {
    const settings = { ENTITIES_URL: entities.url };
    const cluster = await startCluster(workspace, { processes: 1, settings });
    try {
      const start = (extra: Readonly<Record<string, string>> = {}) =>
        startClusterService(workspace, cluster.sqld.url, { ...settings, ...extra });
      const file = join(workspace.folder, "replica.db");
      const servers = {
        replicated: await start({ DATABASE_REPLICA: `file:${file}` }),
        direct: await start(),
      };
      return await withServers(servers, async () => [
        await measureCost(part, cluster, servers),
        await measureFreshReads(part, context, cluster, entities, servers.replicated),
      ]);
    } finally {
      await cluster.close();
    }
  } finally {
    await entities.close();
  }
}

/**
 * Compares the CPU time of two services that nobody asks, one with a replica and one without, while a
 * third one commits debits.
 */
async function measureCost(
  part: string,
  { services: [service], key }: Cluster,
  { replicated, direct }: ComparedServers,
): Promise<ReportRow> {
  const load = (durationMs: number) =>
    runSteadyLoad({
      url: service?.origin ?? "",
      paths: [USER_PATH],
      keys: [key],
      requestsPerSecond: DEBITS_PER_SECOND,
      durationMs,
    });
  const readDifference = () => replicated.readCpuSeconds() - direct.readCpuSeconds();
  await load(WARM_UP_MS);
  const percents: number[] = [];
  for (let round = 0; round < PLAN.rounds; round++) {
    const before = readDifference();
    const startedAt = performance.now();
    await load(ROUND_MS);
    const seconds = (performance.now() - startedAt) / 1000;
    percents.push(((readDifference() - before) / seconds) * 100);
  }
  return createValueRow({
    part,
    what: `replica, ${DEBITS_PER_SECOND} debits/s by another process`,
    unit: "% of a core",
    value: percents,
    target: atMost(1),
  });
}

/** Measures both servers during reads that are not cached, by the service with a replica. */
async function measureFreshReads(
  part: string,
  { load }: BenchContext,
  { sqld, key }: Cluster,
  entities: Cluster["sqld"],
  replicated: BenchServer,
): Promise<ReportRow> {
  const loadCluster = createClusterLoad(load);
  const cluster = {
    sqld: { readCpuMs: () => sqld.readCpuMs() + entities.readCpuMs() },
    services: [replicated],
  };
  const targets = { fresh: { cluster, name: "not cached, replica", key, paths: FRESH_PATHS } };
  await warmUp(loadCluster, targets, PLAN.connections, WARM_UP_MS / 1000);
  const { fresh } = await measureInRounds(loadCluster, targets, PLAN);
  return createValueRow({
    part,
    what: "server, not cached, with a replica, 64 connections",
    unit: CPU_UNIT,
    value: fresh.map(({ serverMs }) => serverMs),
  });
}
