/**
 * Measures the cost of metering: charged details against servers without metering and with less, and
 * with the keys of many accounts against one key.
 */
import { join } from "node:path";
import type { LoadGenerator, LoadTarget } from "./load-generator.ts";
import {
  atLeast,
  createCpuRows,
  createMemoryRows,
  withServers,
  type BenchContext,
} from "./bench-context.ts";
import { startRedis } from "./redis.ts";
import { createRatioRow, createSkippedRow, type ReportRow } from "./report.ts";
import { measureInRounds, pickCpuTimes, pickRates, warmUp, type RoundPlan } from "./rounds.ts";
import { seedKeys } from "./seed.ts";
import {
  fetchAnswer,
  copyBenchDatabase,
  assertSameAnswer,
  createBenchDatabase,
  databaseSettings,
  startServiceProcess,
  startBaseline,
  verbCommand,
  type BenchDatabase,
} from "./service-process.ts";
import type { BenchServer, Workspace } from "./workspace.ts";

const PART = "details";
const PATH = "/api/microblog/slowcompiler/details";
const ROUTE = "/api/microblog/:username/details";
const FEW_CONNECTIONS: RoundPlan = { connections: 64, rounds: 5, seconds: 2 };
const MANY_CONNECTIONS: RoundPlan = { ...FEW_CONNECTIONS, connections: 256 };

/** The keys of as many accounts: more than a group of debits, so that each debit is a row. */
const KEYS = 10_000;

/** Measures details with both durability settings, with few and with many connections. */
export async function measureDetails(context: BenchContext): Promise<ReportRow[]> {
  const { workspace } = context;
  const store = await prepareDatabase(workspace);
  const copy = await copyBenchDatabase(store, "details-process");
  const keysStore = await copyBenchDatabase(store, "details-keys");
  const power = await startServiceProcess(workspace, store);
  const body = await fetchAnswer(power, PATH, store.key);
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

type ServerName = "power" | "process" | "bare" | "naive" | "skeletonPower" | "skeletonProcess";

/** Without Redis, its server is missing. */
type DetailsServers = Readonly<Record<ServerName, BenchServer> & { redis?: BenchServer }>;

/** Measures the service and what it is compared with, after checking that all respond the same. */
async function measureAgainst(
  { load, logProgress }: BenchContext,
  servers: DetailsServers,
  key: string,
  body: string,
): Promise<ReportRow[]> {
  const targets: Record<string, LoadTarget> = {};
  for (const [name, server] of Object.entries(servers)) {
    assertSameAnswer(name, body, await fetchAnswer(server, PATH, key));
    targets[name] = { name: `details, ${name}`, server, key, paths: PATH };
  }
  logProgress("details: 64 connections");
  const few = await measureRates(load, targets, FEW_CONNECTIONS);
  logProgress("details: 256 connections");
  const { naive: _naive, ...others } = targets;
  const many = await measureRates(load, others, MANY_CONNECTIONS);
  return [
    createRow("power / bare Elysia, 64 connections", few.power, few.bare, 0.7),
    createRow("power / bare Elysia, 256 connections", many.power, many.bare, 0.85),
    createRow("process / bare Elysia, 64 connections", few.process, few.bare, 0.8),
    createRow("process / bare Elysia, 256 connections", many.process, many.bare, 0.9),
    createRow("power / skeleton, 64 connections", few.power, few.skeletonPower),
    createRow("power / skeleton, 256 connections", many.power, many.skeletonPower),
    createRow("process / skeleton, 64 connections", few.process, few.skeletonProcess),
    createRow("process / skeleton, 256 connections", many.process, many.skeletonProcess),
    createRow("power / Elysia with Redis, 64 connections", few.power, few.redis),
    createRow("power / Elysia with Redis, 256 connections", many.power, many.redis),
    createRow("power / naive server, 64 connections", few.power, few.naive, 15),
  ];
}

/** Compares rates; without a server to compare with, the row says that it is skipped. */
function createRow(
  what: string,
  ours: readonly number[] | undefined,
  theirs: readonly number[] | undefined,
  minRatio?: number,
): ReportRow {
  if (ours === undefined || theirs === undefined) {
    return createSkippedRow({ part: PART, what: `${what}: skipped, it is not installed` });
  }
  const target = minRatio === undefined ? {} : { target: atLeast(minRatio) };
  return createRatioRow({ part: PART, what, unit: "responses/s", ours, theirs, ...target });
}

/** Compares the CPU time of reads with the keys of many accounts with that of reads with one key. */
async function measureKeys(
  { workspace, load, logProgress }: BenchContext,
  store: BenchDatabase,
): Promise<ReportRow[]> {
  logProgress(`details: ${KEYS} keys`);
  const keys = await seedKeys(workspace, store, KEYS);
  const server = await startServiceProcess(workspace, store);
  return withServers({ server }, async () => {
    const targets = {
      ours: { name: `details, ${KEYS} keys`, server, key: keys, paths: PATH },
      theirs: { name: "details, one key", server, key: store.key, paths: PATH },
    };
    await warmUp(load, targets, FEW_CONNECTIONS.connections);
    const results = await measureInRounds(load, targets, FEW_CONNECTIONS);
    return createCpuRows({
      part: PART,
      what: "power, 10,000 keys / one key, 64 connections",
      unit: "µs of CPU a read",
      ours: pickCpuTimes(results.ours),
      theirs: pickCpuTimes(results.theirs),
    });
  });
}

/** A user with 45 days of observations. */
async function prepareDatabase(workspace: Workspace): Promise<BenchDatabase> {
  const store = await createBenchDatabase(workspace, "details-power");
  const days = Array.from({ length: 45 }, (_, day) => Date.UTC(2026, 0, 1 + day));
  const lines = days.map((at, day) =>
    JSON.stringify({
      kind: "user",
      observedAt: new Date(at).toISOString(),
      username: "SlowCompiler",
      displayName: "The Slow Compiler",
      followers_count: 144_000 + 21 * day,
      following_count: 310,
      tweet_count: 5200 + day,
      profile_image_url: "https://example.com/microblog/slowcompiler/avatar.jpg",
      description: "Still linking. Notes on type systems, build times and tea.",
      created_at: "2016-04-02T09:12:44Z",
      verified: true,
    }),
  );
  const file = join(workspace.folder, "details.ndjson");
  await Bun.write(file, lines.join("\n"));
  await workspace.run(verbCommand("import", file), { settings: databaseSettings(store.file) });
  return store;
}

async function measureRates(
  load: LoadGenerator,
  targets: Readonly<Record<string, LoadTarget>>,
  plan: RoundPlan,
): Promise<Partial<Record<keyof DetailsServers, number[]>>> {
  await warmUp(load, targets, plan.connections);
  const results = await measureInRounds(load, targets, plan);
  return Object.fromEntries(Object.entries(results).map(([name, own]) => [name, pickRates(own)]));
}
