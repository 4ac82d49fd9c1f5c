/**
 * Measures the cost of metering: charged details against servers without metering and with less,
 * and with the keys of many accounts against one key.
 */
import { join } from "node:path";
import type { LoadGenerator, LoadResult, LoadTarget } from "./load-generator.ts";
import {
  atLeast,
  createCpuRows,
  createMemoryRows,
  withServers,
  type BenchContext,
} from "./bench-context.ts";
import { startRedis } from "./redis.ts";
import { createRatioRow, createSkippedRow, type ReportRow } from "./report.ts";
import {
  COMPILING_S,
  measureInRounds,
  pickCpuTimes,
  pickRates,
  warmUp,
  type RoundPlan,
} from "./rounds.ts";
import { importUser, seedKeys, USER_PATH } from "./seed.ts";
import {
  fetchAnswer,
  copyBenchDatabase,
  assertSameAnswer,
  createBenchDatabase,
  databaseSettings,
  startServiceProcess,
  startBaseline,
  type BenchDatabase,
} from "./service-process.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

const PART = "details";
const ROUTE = "/api/microblog/:username/details";
const FEW_CONNECTIONS: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };
const MANY_CONNECTIONS: RoundPlan = { ...FEW_CONNECTIONS, connections: 256 };

/** The keys of as many accounts: more than a group has debits, so that each updates a row. */
const KEYS = 10_000;

/** Measures details with both durability settings, with few and with many connections. */
export async function measureDetails(context: BenchContext): Promise<ReportRow[]> {
  const { workspace } = context;
  const store = await prepareDatabase(workspace);
  const copy = await copyBenchDatabase(store, "details-process");
  const keysStore = await copyBenchDatabase(store, "details-keys");
  const power = await startServiceProcess(workspace, store);
  const body = await fetchAnswer(power, USER_PATH, store.key);
  const folder = workspace.folder;
  const start = (program: string, ...rest: readonly string[]) =>
    startBaseline(workspace, program, rest, body);
  const redis = await startRedis(workspace, (socket) =>
    start("elysia-redis-server", ROUTE, socket, store.key),
  );
  const servers = {
    power,
    process: await startServiceProcess(workspace, copy, "process"),
    bare: await start("elysia-server", ROUTE),
    naive: await start("naive-server", join(folder, "naive.db"), store.key),
    skeletonPower: await start("skeleton-server", join(folder, "power.db"), "power", store.key),
    skeletonProcess: await start("skeleton-server", join(folder, "fast.db"), "process", store.key),
    ...(redis && { redis }),
  };
  const rows = await withServers(servers, async () => [
    ...(await measureAgainst(context, servers, store.key, body)),
    ...createMemoryRows(PART, "power", servers.power),
    ...createMemoryRows(PART, "process", servers.process),
    ...createMemoryRows(PART, "bare Elysia", servers.bare),
    ...createMemoryRows(PART, "naive server", servers.naive),
  ]);
  return [...rows, ...(await measureKeys(context, keysStore))];
}

/** The results of each round. */
type Loads = readonly LoadResult[];

type ServerName = "power" | "process" | "bare" | "naive" | "skeletonPower" | "skeletonProcess";

/** A value for each server; none for Redis if it is not installed. */
type PerServer<Value> = Readonly<Record<ServerName, Value> & { redis?: Value }>;

/** Measures the service and what it is compared with, after checking that all respond the same. */
async function measureAgainst(
  { load, logProgress }: BenchContext,
  servers: PerServer<BenchServer>,
  key: string,
  body: string,
): Promise<ReportRow[]> {
  for (const [name, server] of Object.entries(servers)) {
    assertSameAnswer(name, body, await fetchAnswer(server, USER_PATH, key));
  }
  logProgress("details: 64 connections");
  const few = await measureServers(load, servers, key, FEW_CONNECTIONS);
  logProgress("details: 256 connections");
  const many = await measureServers(load, servers, key, MANY_CONNECTIONS);
  return [
    createRow("power / bare Elysia, 64 connections", few.power, few.bare, 0.7),
    createRow("power / bare Elysia, 256 connections", many.power, many.bare, 0.85),
    createRow("process / bare Elysia, 64 connections", few.process, few.bare, 0.8),
    createRow("process / bare Elysia, 256 connections", many.process, many.bare, 0.9),
    ...createSkeletonRows("power / skeleton, 64 connections", few.power, few.skeletonPower),
    ...createSkeletonRows("power / skeleton, 256 connections", many.power, many.skeletonPower),
    ...createSkeletonRows("process / skeleton, 64 connections", few.process, few.skeletonProcess),
    ...createSkeletonRows(
      "process / skeleton, 256 connections",
      many.process,
      many.skeletonProcess,
    ),
    createRow("power / Elysia with Redis, 64 connections", few.power, few.redis),
    createRow("power / Elysia with Redis, 256 connections", many.power, many.redis),
    createRow("power / naive server, 64 connections", few.power, few.naive, 15),
    createRow("power / naive server, 256 connections", many.power, many.naive),
  ];
}

/** Compares rates; without a server to compare with, the row says that it is skipped. */
function createRow(
  what: string,
  ours: Loads,
  theirs: Loads | undefined,
  minRatio?: number,
): ReportRow {
  if (theirs === undefined) {
    return createSkippedRow({
      part: PART,
      what: `${what}: skipped, redis-server is not installed`,
    });
  }
  return createRatioRow({
    part: PART,
    what,
    unit: "responses/s",
    ours: pickRates(ours),
    theirs: pickRates(theirs),
    ...(minRatio === undefined ? {} : { target: atLeast(minRatio) }),
  });
}

/** Compares rates, and CPU times, which other programs on the machine change less. */
function createSkeletonRows(what: string, ours: Loads, theirs: Loads): ReportRow[] {
  return [createRow(what, ours, theirs), ...createCpuTimeRows(what, ours, theirs)];
}

function createCpuTimeRows(what: string, ours: Loads, theirs: Loads): ReportRow[] {
  return createCpuRows({
    part: PART,
    what,
    unit: "µs of CPU a read",
    ours: pickCpuTimes(ours),
    theirs: pickCpuTimes(theirs),
  });
}

/** Compares the CPU time of reads with the keys of many accounts and with one key. */
async function measureKeys(
  { workspace, load, logProgress }: BenchContext,
  store: BenchDatabase,
): Promise<ReportRow[]> {
  logProgress(`details: ${KEYS} keys`);
  const keys = await seedKeys(workspace, store, KEYS);
  const server = await startServiceProcess(workspace, store);
  return withServers({ server }, async () => {
    const targets = {
      ours: { name: `details, ${KEYS} keys`, server, key: keys, paths: USER_PATH },
      theirs: { name: "details, one key", server, key: store.key, paths: USER_PATH },
    };
    const results = await measureWarm(load, targets, FEW_CONNECTIONS);
    const what = "power, 10,000 keys / one key, 64 connections";
    return createCpuTimeRows(what, results.ours, results.theirs);
  });
}

async function prepareDatabase(workspace: Workspace): Promise<BenchDatabase> {
  const store = await createBenchDatabase(workspace, "details-power");
  await importUser(workspace, databaseSettings(store.file));
  return store;
}

async function measureServers(
  load: LoadGenerator,
  { redis, ...others }: PerServer<BenchServer>,
  key: string,
  plan: RoundPlan,
): Promise<PerServer<Loads>> {
  const target = (name: string, server: BenchServer): LoadTarget => {
    return { name: `details, ${name}`, server, key, paths: USER_PATH };
  };
  const targets = {
    power: target("power", others.power),
    process: target("process", others.process),
    bare: target("bare", others.bare),
    naive: target("naive", others.naive),
    skeletonPower: target("skeleton, power", others.skeletonPower),
    skeletonProcess: target("skeleton, process", others.skeletonProcess),
  };
  if (redis === undefined) return measureWarm(load, targets, plan);
  return measureWarm(load, { ...targets, redis: target("Redis", redis) }, plan);
}

async function measureWarm<Name extends string>(
  load: LoadGenerator,
  targets: Readonly<Record<Name, LoadTarget>>,
  plan: RoundPlan,
): Promise<Record<Name, LoadResult[]>> {
  await warmUp(load, targets, plan.connections, COMPILING_S);
  return measureInRounds(load, targets, plan);
}
